"""The counted character model against what it says of itself."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.demo.ngram_baseline import CharacterNGramModel

TEXT = st.text(alphabet="ab c\n", min_size=1, max_size=60)


@given(TEXT, st.integers(1, 9), st.text(alphabet="abc", max_size=12))
def test_the_probabilities_of_all_next_characters_sum_to_one(text, order, before):
    model = CharacterNGramModel(text, order)

    def bits(one: str) -> float:
        return model.bits_per_character(one) * len(one) if one else 0.0

    total = sum(2 ** (bits(before) - bits(before + chr(code))) for code in range(128))
    assert total == pytest.approx(1)


def test_one_character_is_counted_as_by_hand():
    """p(a) = (N(a) + T / 128) / (N + T) with N(a) = 3, N = 4, T = 2."""
    found = CharacterNGramModel("aaab", 1).bits_per_character("a")
    assert found == pytest.approx(-log2((3 + 2 / 128) / (4 + 2)))


def test_more_history_helps_where_there_is_something_to_remember():
    text = "abcabd" * 50
    one, three = (CharacterNGramModel(text, order).bits_per_character(text) for order in (1, 3))
    assert three < one / 2


def test_an_order_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="from 1 to 9"):
        CharacterNGramModel("a", 10)


def by_hand(text: str, order: int, history: str, one: str) -> float:
    """The formula of the class, with strings that are counted by Python."""
    if order == 0:
        return 1 / 128
    begun = "\n" * (order - 1) + text
    short = history[len(history) - order + 1 :] if order > 1 else ""
    after = [begun[i + order - 1] for i in range(len(text)) if begun[i : i + order - 1] == short]
    shorter = by_hand(text, order - 1, history, one)
    if not after:
        return shorter
    return (after.count(one) + len({*after}) * shorter) / (len(after) + len({*after}))


@given(TEXT, st.integers(1, 9), st.text(alphabet="abcd\n", min_size=1, max_size=20))
def test_a_text_costs_what_the_formula_says_character_by_character(text, order, asked):
    history, bits = "\n" * 8, 0.0
    for one in asked:
        bits -= log2(by_hand(text, order, history, one))
        history += one
    assert CharacterNGramModel(text, order).bits_per_character(asked) == pytest.approx(bits / len(asked))


def test_what_is_not_ascii_is_one_character():
    model = CharacterNGramModel("aüaö", 3)
    assert model.bits_per_character("aßa") == model.bits_per_character("a?a")
    with pytest.raises(ValueError, match="order is 0"):
        CharacterNGramModel("a", 0)
