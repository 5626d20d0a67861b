"""Numbers as people read them."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from elman.number_format import (
    format_clock,
    format_duration,
    format_names,
    format_number,
    format_percent,
    format_probability,
    format_score,
    format_scores,
    format_size,
)

SOURCE = Path(__file__).parents[1] / "src" / "elman"


@given(some.floats(1e-9, 1e12), some.booleans())
def test_a_number_has_no_exponent_and_four_digits_that_are_right(value, negative):
    value = -value if negative else value
    text = format_number(value)
    assert re.fullmatch(r"-?\d{1,3}(,\d{3})*(\.\d+)?", text)
    assert float(text.replace(",", "")) == pytest.approx(value, rel=5e-4)


@pytest.mark.parametrize(
    ("value", "digits", "said"),
    [
        (0.000012345678, 4, "0.00001235"),
        (0.98765, 2, "0.99"),
        (1.5, 4, "1.5"),
        (2.0, 4, "2"),
        (1234.56, 4, "1,235"),
        (123_456.7, 4, "123,457"),
    ],
)
def test_a_number_has_no_more_digits_than_asked_for_and_no_zeros_at_its_end(value, digits, said):
    assert format_number(value, digits) == said


@given(some.integers(0, 10**15))
def test_a_count_is_whole_with_commas(count):
    assert format_score("examples", float(count)) == format_score("anything", count) == f"{count:,}"


def test_a_line_of_scores_tells_counts_from_scores():
    scores = {"accuracy": 91.2, "nats_per_token": 0.00123, "perplexity": 12345.678, "examples": 20000.0}
    assert format_scores(scores) == (
        "accuracy 91.20, nats_per_token 0.0012, perplexity 12,345.68, examples 20,000"
    )


def test_what_is_not_finite_is_said_in_words():
    assert [format_score("loss", x) for x in (float("inf"), float("nan"))] == ["infinite", "not a number"]
    assert format_number(0.0) == "0"


@given(some.floats(-1e-6, 1 + 1e-6))
def test_a_probability_is_never_above_one_or_below_zero(chance):
    assert 0 <= float(format_probability(chance)) <= 1
    assert not format_probability(chance).startswith("-")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        *((0.84, "0.8 s"), (9.04, "9.0 s"), (9.95, "10 s"), (10.4, "10 s"), (42, "42 s"), (59.6, "1 min 0 s")),
        *((200, "3 min 20 s"), (3900, "1 h 5 min"), (7200, "2 h 0 min"), (3_600_000, "1,000 h 0 min")),
    ],
)
def test_a_duration_is_said_in_the_units_that_matter(seconds, said):
    assert format_duration(seconds) == said


@pytest.mark.parametrize(
    ("size", "said"),
    [(999, "999 bytes"), (1000, "1.0 kB"), (999_990, "1.0 MB"), (12_345_678, "12.3 MB"), (3e15, "3,000.0 TB")],
)
def test_a_size_is_said_in_the_unit_that_fits(size, said):
    assert format_size(size) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0:00:00"), (59.6, "0:01:00"), (3725, "1:02:05"), (36_000, "10:00:00")]
)
def test_a_clock_keeps_its_width(seconds, said):
    assert format_clock(seconds) == said


def test_long_lists_of_names_are_cut():
    assert format_names("abc") == "a, b, c"
    assert format_names("abcdefgh", 3) == "a, b, c and 5 others"
    assert format_names("abcd", 3) == "a, b, c, d"
    assert format_percent(0.123, 1) == "12.3 %"


def test_no_message_formats_a_number_with_an_exponent():
    """``:g`` turns 20,000 into 2e+04 where it keeps few digits; formulas alone print constants by it."""
    for path in SOURCE.rglob("*.py"):
        if path.name != "equations.py":
            assert not re.search(r":,?(\.\d)?g\}", path.read_text()), path
