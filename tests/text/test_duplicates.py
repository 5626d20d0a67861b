"""Which texts are the same, and which are not."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from elman.text.duplicates import group_duplicates, normal_form
from elman.text.minhash import find_near_duplicates

SENTENCE = "the quick brown fox jumps over the lazy dog while all the other animals of the wood look on"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, World!", "hello   world"),
        ("I paid 12 dollars for all of it", "I paid 7.50 dollars for all of it"),
        ("STRASSE", "Straße"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),
    ],
)
def test_case_blanks_punctuation_and_numbers_make_no_other_text(one, other):
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    "texts",
    [
        ["12", "21"],
        ["3 + 4", "3 + 5"],
        ["in 1066", "in 1492"],
        [":-)", ":-("],
        ["is it w12 w4 w5 w6 or w7", "is it w12 w4 w5 w6 or w8"],
        ["去年", "今年"],
        ["", "a"],
    ],
)
def test_what_is_all_that_a_text_says_is_kept(texts):
    assert group_duplicates(texts) == [0, 1]


def test_a_long_text_with_one_other_word_is_nearly_the_same_and_a_short_one_is_not():
    words = (SENTENCE + " " + SENTENCE.upper()).split()
    changed = [*words[:7], "cat", *words[8:]]
    assert group_duplicates([" ".join(words), "between", " ".join(changed)]) == [0, 1, 0]
    assert group_duplicates(["play some jazz music by him", "play some rock music by him"]) == [0, 1]


def test_groups_are_numbered_as_they_begin_and_a_chain_is_one_group():
    words = [f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)]
    chain = [" ".join(words[k : k + 40]) for k in (0, 1, 2, 3, 4, 5, 6, 7)]
    assert group_duplicates(["x", *chain, "y"]) == [0, *[1] * 8, 2]


def test_texts_of_other_words_are_never_joined_whatever_the_hashes_say():
    draw = random.Random(0)
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(200)]
    texts = [" ".join(draw.choices(words, k=15)) for _ in range(3000)]
    assert group_duplicates(texts) == list(range(3000))


def test_most_of_what_is_nearly_equal_is_found():
    draw = random.Random(0)
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(600)]
    found = 0
    for _ in range(200):
        text = draw.choices(words, k=60)
        place = draw.randrange(60)
        other = [*text[:place], "another", *text[place + 1 :]]  # 57 of 61 pairs in common: 0.93
        found += group_duplicates([" ".join(text), " ".join(other)]) == [0, 0]
    assert found >= 195, "1 - (1 - 0.93⁴)⁵ of them is 99.9 %"


def alike(one: str, other: str) -> float:
    """The share of word pairs, among the first 256 words, that both have."""
    a, b = ({*pairwise(text.split(" ")[:256])} for text in (one, other))
    return len(a & b) / len(a | b)


def test_only_texts_that_share_four_fifths_of_their_word_pairs_are_told():
    draw = random.Random(0)
    words = [f"w{i}" for i in range(500)]
    texts = []
    for _ in range(60):
        text = draw.choices(words, k=40)
        for changes in (1, 2, 3, 4):  # word pairs in common: 37 of 41, 35 of 43, 33 of 45, …
            other = text.copy()
            for place in draw.sample(range(2, 38, 3), changes):
                other[place] = f"x{draw.random()}"
            texts.append(" ".join(other))
        texts.append(" ".join(text))
    found = [*find_near_duplicates(texts)]
    assert len(found) > 100
    assert all(later > earlier for later, earlier in found)
    assert len({*found}) == len(found)
    assert all(alike(texts[i], texts[k]) >= 0.8 for i, k in found)
    equal = " ".join(words[:10])
    assert [*find_near_duplicates(["a", equal, "b", equal])] == [(3, 1)]
    assert not [*find_near_duplicates([equal])]


def test_as_many_are_found_as_the_formula_of_the_bands_says():
    """Three words of 61 changed leave 54 of 66 word pairs in common: 1 - (1 - 0.818⁴)⁵ is 0.949."""
    draw = random.Random(1)
    words = [f"w{i}" for i in range(3000)]
    found = 0
    for _ in range(400):
        text = draw.sample(words, 61)
        other = text.copy()
        for place in draw.sample(range(1, 60, 3), 3):
            other[place] = "new" + other[place]
        found += [*find_near_duplicates([" ".join(text), " ".join(other)])] == [(1, 0)]
    assert 0.91 < found / 400 < 0.98


@pytest.mark.parametrize(("words", "found"), [(9, False), (10, True)])
def test_texts_of_ten_words_are_compared(words, found):
    text = " ".join(f"w{i}" for i in range(words))
    assert bool([*find_near_duplicates([text, text])]) is found


def test_of_long_texts_the_first_256_words_are_compared():
    words = [f"w{i}" for i in range(300)]
    end, beginning = [*words[:256], *"abcdefghij" * 5], [*(f"x{i}" for i in range(60)), *words[60:]]
    assert [*find_near_duplicates([" ".join(words), " ".join(end)])] == [(1, 0)]
    assert not [*find_near_duplicates([" ".join(words), " ".join(beginning)])]
