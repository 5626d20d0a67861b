"""Sentences of raw text, and where words stand in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.text.pre_tokenizer import SPLIT_RULES
from elman.text.sentences import locate_words, split_sentences

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text(
    "aBéI\u0301'\"”-.!?…1 \u200d👍🏽🇩🇪漢。_\n\t\x1c\u2028)"
)


@pytest.mark.parametrize(
    "sentences",
    [
        ["Time flies.", "So it does!", "Does it?", "Yes…", "And no."],
        ["Dr. Smith met J. R. R. Tolkien.", "Mr. Lee did not."],
        ['"Really?" he said.', '"Yes."', "She left."],
        ["He lives in the U.S.", "The others, e.g. Bob, do not."],
        ["See No. 5 and Fig. 3.", "He said no.", "Then he left."],
        ["It was 5 p.m. on Jan. 3.", "We had apples, pears etc.", "They were good."],
        ["Am 3. Oktober kam Frau Dr. Müller z.B. nicht.", "Sie blieb."],
        ["It costs 3.50 (or so).", "[Not much.]"],
        ["1. A title", "- an item", "- another"],
        ["他来了。", "她走了！"],
        ["a line\nthat goes on", "and a new paragraph"],
        ["So do I.", "He does."],
        ["Am 12. Januar war es kalt.", "Es waren 100.", "January was cold.", "We had 12.", "They had none."],
    ],
)
def test_sentences_are_what_a_reader_takes_for_sentences(sentences: list[str]) -> None:
    between = "" if "。" in sentences[0] else "\n\n" if "\n" in sentences[0] or "1." in sentences[0] else " "
    text = between.join(sentences)
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


def test_words_that_cannot_be_last_are_not_and_others_may_be() -> None:
    together = [
        "Tea, rice etc. Smith has it.",
        "He met Prof. Smith.",
        "See pp. 3 and 4.",
        "He said etc. and left.",
        "A. B. Cee came.",
    ]
    for text in [*together, "it. does"]:
        assert [text[start:end] for start, end in split_sentences(text)] == [text]
    months = {
        "Am 1. Januar.": 1,
        "Am 99. Januar.": 1,
        "Es waren 100. Januar kam.": 2,
        "Es waren 1000. Januar.": 2,
    }
    assert {text: len([*split_sentences(text)]) for text in months} == months
    apart = {"It ends etc. The next.": 2, "So am I. Be quiet.": 2, "! A": 2, "a.": 1}
    assert {text: len([*split_sentences(text)]) for text in apart} == apart


@given(texts)
def test_sentences_lose_nothing_but_blanks_between_them(text: str) -> None:
    at = 0
    for start, end in split_sentences(text):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("kind", ["words", "whitespace"])
@given(text=texts)
def test_words_stand_where_they_are_said_to(kind: str, text: str) -> None:
    words = SPLIT_RULES[kind].split(text)
    places = locate_words(words, text)
    assert [text[start:end] for start, end in places] == words
    assert all(before[1] <= after[0] for before, after in pairwise(places))


def test_a_long_text_takes_linear_time() -> None:
    assert len(split_sentences("Dr. A " * 100_000)) == 1
    assert len(split_sentences("a" * 1_000_000 + ". B")) == 2
