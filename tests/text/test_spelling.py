"""How words are spelled: characters, affixes and casing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ModelError
from elman.text.spelling import CASINGS, MAX_WORD_CHARS, Spelling, casing
from elman.text.vocab import SPECIALS, UNK

WORDS = ("walk", "walked", "walking", "talked", "Über", "3.14")
ANY = st.text(max_size=2 * MAX_WORD_CHARS)

LETTERS = st.characters(codec="utf-8")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("house", 1), ("don't", 1), ("ß", 1), ("a中", 1)),
        *(("UN", 2), ("U.S.", 2), ("ÄÖ", 2)),
        *(("House", 3), ("Don't", 3), ("Well-known", 3), ("O'Neil", 3), ("'Twas", 3), ("I", 3)),
        *(("iPhone", 4), ("McDonald", 4), ("HiFi", 4)),
        *(("1984", 5), ("٣", 5), ("3.14", 6), ("B2B", 6), ("1st", 6)),
        *(("中文", 7), ("あ", 7), ("سلام", 7)),
        *(("", 8), (".", 8), ("--", 8), ("½", 8), ("\u0301", 8), ("\ud800", 8)),
    ],
)
def test_casing_tells_kinds_of_words_apart(word: str, expected: int) -> None:
    assert casing(word) == expected


@given(ANY)
def test_every_word_has_one_of_the_casings_and_none_that_of_padding(word: str) -> None:
    assert 1 <= casing(word) < CASINGS


@given(st.text(st.sampled_from("aäßñжλ"), min_size=2).map(str.lower))
def test_casing_of_letters_that_have_case_is_that_of_how_they_are_written(word: str) -> None:
    assert casing(word) == 1
    assert casing(word.upper()) == 2
    assert casing(word.capitalize()) == 3
    assert casing(word[0] + word[1:].upper()) == 4


@given(ANY, st.integers(0, 2 * MAX_WORD_CHARS))
def test_a_digit_anywhere_makes_a_word_one_with_digits(word: str, at: int) -> None:
    assert casing(word[:at] + "7" + word[at:]) in (5, 6)


def test_characters_are_those_of_the_word_and_then_nothing() -> None:
    spelling = Spelling.learn(WORDS)
    ids = spelling.characters(["walk", "", "Über"])
    assert ids.shape == (3, 4)
    spelled = ["".join(spelling.alphabet.decode(i for i in row if i)) for row in ids]
    assert spelled == ["walk", "", "Über"]
    assert spelling.characters([]).shape == (0, 0)
    assert spelling.characters(["", ""]).shape == (2, 0)


@given(st.lists(ANY, max_size=5))
def test_no_character_is_padding_and_no_word_is_longer_than_is_seen(words: list[str]) -> None:
    ids = Spelling.learn(WORDS).characters(words)
    assert (ids != 0).sum(1).tolist() == [min(len(word), MAX_WORD_CHARS) for word in words]
    assert (np.diff((ids != 0).astype(int)) <= 0).all(), "filled up on the right"


def test_of_a_long_word_its_beginning_and_its_end_are_seen() -> None:
    spelling, half = Spelling.learn(["abc"]), MAX_WORD_CHARS // 2
    exact, long = "a" * half + "c" * half, "a" * half + "b" * 99 + "c" * half
    assert spelling.characters([long]).tolist() == spelling.characters([exact]).tolist()
    one_more = "a" * half + "b" + "c" * half
    assert spelling.characters([one_more]).tolist() == spelling.characters([exact]).tolist()


def test_a_character_that_was_never_seen_is_unknown() -> None:
    spelling = Spelling.learn(["a"])
    assert spelling.characters(["aж<"]).tolist() == [[len(SPECIALS), UNK, UNK]]


def test_affixes_are_those_that_two_words_share() -> None:
    spelling = Spelling.learn(WORDS, affixes=3)
    known = [set(v.items) - set(SPECIALS) for v in (*spelling.prefixes, *spelling.suffixes)]
    assert known == [{"w"}, {"wa"}, {"wal"}, {"d"}, {"ed"}, {"ked"}]
    assert Spelling.learn(WORDS).prefixes == ()


def test_features_are_affixes_from_short_to_long_and_then_the_casing() -> None:
    spelling = Spelling.learn(WORDS, affixes=2)
    features = spelling.features(["walked", "Unked", "x", ""])
    assert features.shape == (4, len(spelling.sizes)) == (4, 5)
    first = len(SPECIALS)
    assert features.tolist() == [
        [first, first, first, first, 1],
        [UNK, UNK, first, first, 3],
        [UNK, UNK, UNK, UNK, 1],
        [UNK, UNK, UNK, UNK, 8],
    ]
    assert spelling.features([]).shape == (0, 5)


@given(st.lists(ANY, max_size=6), st.lists(ANY, max_size=6), st.integers(0, 4))
def test_a_feature_is_below_its_size_and_above_the_padding(
    learnt: list[str], words: list[str], affixes: int
) -> None:
    spelling = Spelling.learn(learnt, affixes=affixes)
    features = spelling.features(words)
    assert (features > 0).all()
    assert (features < np.array(spelling.sizes)).all()


def test_a_text_cannot_spell_itself_into_a_special_affix() -> None:
    spelling = Spelling.learn(["<s>", "<s>x", "a<s>", "</s>", "x</s>"], affixes=4)
    for vocab in (*spelling.prefixes, *spelling.suffixes):
        assert len(set(vocab.items)) == len(vocab.items)
    assert spelling.features(["<s>"])[0, 2] == UNK


@given(st.lists(st.text(LETTERS), max_size=6), st.integers(0, 3))
def test_what_was_saved_is_what_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], affixes: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "spelling.json"
    spelling = Spelling.learn(words, affixes=affixes)
    spelling.save(path)
    assert Spelling.load(path) == spelling


def test_the_order_of_the_words_and_how_often_they_occur_do_not_matter() -> None:
    assert Spelling.learn(WORDS, affixes=2) == Spelling.learn((*WORDS[::-1], *WORDS), affixes=2)


def test_further_words_keep_all_ids_and_add_what_they_have_once() -> None:
    known, further = ["abc", "abd", "ab"], ["abe", "fbe", "fbc"]
    first, other = (Spelling.learn(words, affixes=2) for words in (known, further))
    both = first.extend(further)
    for old, new, whole in zip(
        *((s.alphabet, *s.prefixes, *s.suffixes) for s in (first, other, both)), strict=True
    ):
        assert whole.items[: len(old)] == old.items
        assert sorted(whole.items) == sorted({*old.items, *new.items})


GOOD = {"alphabet": [*SPECIALS], "prefixes": [[*SPECIALS]], "suffixes": [[*SPECIALS]]}


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {},
        {**GOOD, "more": 1},
        {**GOOD, "alphabet": None},
        {**GOOD, "alphabet": ["a"]},
        {**GOOD, "alphabet": [*SPECIALS, "a", "a"]},
        {**GOOD, "alphabet": [*SPECIALS, 7]},
        {**GOOD, "prefixes": "abc"},
        {**GOOD, "prefixes": ["abc"]},
        {**GOOD, "suffixes": {"a": 1}},
    ],
    ids=str,
)
def test_a_damaged_file_is_refused_and_named(tmp_path: Path, stored: object) -> None:
    path = tmp_path / "spelling.json"
    path.write_text(json.dumps(stored))
    with pytest.raises(ModelError, match=r"spelling\.json: the file is damaged"):
        Spelling.load(path)
