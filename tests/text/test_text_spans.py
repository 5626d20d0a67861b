"""Spans of characters that annotators marked, as tags of words."""

import pytest

from elman.errors import DataError
from elman.text.text_spans import read_text_span, tag_text

TEXT = "Ann Lee lives in New York."


def test_a_span_of_characters_is_a_span_of_words():
    spans = [(17, 25, "LOC"), (0, 7, "PER")]
    words, tags = tag_text(TEXT, [read_text_span(span) for span in spans])
    assert words == ["Ann", "Lee", "lives", "in", "New", "York", "."]
    assert tags == ["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"]


@pytest.mark.parametrize(
    "span",
    [
        [0, 3, "PER"],
        {"start_offset": 0, "end_offset": 3, "label": "PER", "id": 1},
        {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]},
    ],
)
def test_both_tools_spell_the_same_span(span):
    assert tag_text("Ann", [read_text_span(span)]) == (["Ann"], ["B-PER"])


def test_blanks_at_the_ends_of_a_span_do_not_matter():
    assert tag_text(TEXT, [read_text_span([3, 8, "PER"])])[1][1] == "B-PER"


LABELLED_TWICE, NOT_LABELLED = {"start": 0, "end": 7, "labels": ["PER", "LOC"]}, {"start": 0, "end": 7}


@pytest.mark.parametrize(
    "span",
    [
        [0, 2, "PER"],
        [1, 7, "PER"],
        [3, 4, "PER"],
        [30, 40, "PER"],
        [0, 7],
        "PER",
        7,
        LABELLED_TWICE,
        NOT_LABELLED,
    ],
)
def test_a_span_that_cuts_words_or_is_none_is_refused(span):
    with pytest.raises(DataError):
        tag_text(TEXT, [read_text_span(span)])
