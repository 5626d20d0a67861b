"""Sentences in tables: words and tags side by side, or texts with spans that somebody marked."""

from typing import Any

import numpy as np
import pytest

from elman.errors import ConfigError, DataError
from elman.tasks.tagger.tables import read_tagged_rows
from elman.text.tables import InMemory, collect_reports

COLUMNS = {"words": "words", "tags": "tags"}


def read(*rows: tuple[Any, Any], **options: Any) -> list[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    source = InMemory.hold([{"words": words, "tags": tags} for words, tags in rows])
    return [*read_tagged_rows(source, COLUMNS, **options)]


@pytest.mark.parametrize(
    "row",
    [
        (["Ann", "saw"], ["B-PER", "O"]),
        (("Ann", "saw"), ("B-PER", "O")),
        ('["Ann", "saw"]', '["B-PER", "O"]'),
        (np.array(["Ann", "saw"]), np.array(["B-PER", "O"])),
        ("Ann saw", [[0, 3, "PER"]]),
        ("Ann saw", ((0, 3, "PER"),)),
        ("Ann saw", [{"start": 0, "end": 3, "label": "PER"}]),
        ("Ann saw", '[[0, 3, "PER"]]'),
    ],
)
def test_words_and_tags_are_lists_or_a_text_and_its_spans(row):
    assert read(row) == [(1, ("Ann", "saw"), ("B-PER", "O"))]


def test_a_text_may_have_no_span_and_begin_with_a_bracket():
    assert read(("Ann saw", [])) == [(1, ("Ann", "saw"), ("O", "O"))]
    ((_, words, tags),) = read(("[Ann", []))
    assert (words, tags) == (("[", "Ann"), ("O", "O"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("Ann saw", "B-PER O"), "expected words and as many tags"),
        (("Ann saw", ["B-PER", "O"]), "expected words and as many tags"),
        (("Ann saw", [[0, 3, "PER"], "O"]), "expected words and as many tags"),
        (("Ann saw", [[0, 2, "PER"]]), "does not begin and end with words"),
        ((["Ann", "saw"], "BO"), "expected words and as many tags"),
        ((["Ann", "saw"], ["O"]), "expected words and as many tags"),
        ((["Ann", 7], ["O", "O"]), "words and tags must be texts"),
        ((["Ann", "saw"], ["O", 7]), "words and tags must be texts"),
        ((["Ann"], ["B PER"]), "empty or has blanks"),
        ((["Ann"], [""]), "empty or has blanks"),
        ((["Ann"], ["O "]), "empty or has blanks"),
        ((7, ["O"]), "words must be a list or a text, not 7"),
        ((["Ann"], 7), "tags must be a list or a text, not 7"),
        ((None, ["O"]), "there are no words"),
        ((["Ann"], float("nan")), "there are no tags"),
    ],
)
def test_what_is_no_sentence_is_named_or_skipped(row, said):
    good = (["Ann"], ["O"])
    with pytest.raises(DataError, match=f":2: {said}|examples in memory:2: .*{said}"):
        read(good, row)
    with collect_reports() as reports:
        assert read(good, row, good, skip_bad=True) == [(1, ("Ann",), ("O",)), (3, ("Ann",), ("O",))]
    assert [sum(report.skipped.values()) for report in reports] == [1]


def test_one_column_cannot_be_both():
    source = InMemory.hold([{"words": ["a"]}])
    with pytest.raises(ConfigError, match="one column is to be words and tags"):
        [*read_tagged_rows(source, {"words": "words", "tags": "words"})]
