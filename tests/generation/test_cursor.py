"""Where a text stops, and what of its end is not shown yet."""

import pytest

from elman.generation.cursor import decode_continuation, hold_back, read_prompt, truncate_at_stop
from elman.text.vocab import BOS, PAD
from tests.tasks.toy_lm import toy


@pytest.mark.parametrize(
    ("text", "stops", "shown"),
    [
        ("abc", [], "abc"),
        ("abc", ["x"], "abc"),
        ("abc", ["cd"], "ab"),
        ("abc", ["bcd"], "a"),
        ("abc", ["cd", "bcd"], "a"),
        ("abcab", ["abd"], "abc"),
        ("aa", ["aab"], ""),
        ("aaa", ["aab"], "a"),
        ("ab", ["abcdef"], ""),
        ("xb", ["ab"], "xb"),  # the end of a stop is no beginning of it
        ("b", ["ab"], "b"),
        ("", ["a"], ""),
        ("ab\ufffd", [], "ab"),
        ("a\ufffd\ufffd", ["ab"], ""),
    ],
)
def test_what_may_be_the_beginning_of_a_stop_or_of_a_character_is_held_back(text, stops, shown):
    assert hold_back(text, stops) == shown


@pytest.mark.parametrize(
    ("stops", "left"), [([], "a b c b"), (["b"], "a "), (["c", "b"], "a "), (["x"], "a b c b"), (["a"], "")]
)
def test_a_text_stops_before_the_first_of_its_stops(stops, left):
    assert truncate_at_stop("a b c b", stops) == left


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_what_stands_for_no_text_adds_none(kind):
    lm = toy(kind)
    prompt = read_prompt(lm, "Once ")
    ids = lm.tokenizer.encode("upon a")
    plain = decode_continuation(lm, prompt, ids)
    assert decode_continuation(lm, prompt, [BOS, *ids[:1], PAD, *ids[1:], lm.end, *ids]) == plain == "upon a"
