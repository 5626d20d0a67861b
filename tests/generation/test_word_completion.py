"""Completions against brute force over the vocabulary and over all ways to spell."""

import math

import pytest

from elman.errors import ConfigError
from elman.generation import complete
from elman.generation.token_bytes import is_word_char, token_bytes
from tests.tasks.toy_lm import KINDS, next_probabilities, real, toy, writable


def ascii_only(lm):
    """The model without bytes that are only a part of a character."""
    for i, token in enumerate(token_bytes(lm.tokenizer).tokens):
        if any(byte > 127 for byte in token):
            lm.net.output.b.data[i] = -math.inf
    return lm


def ways(lm, text: bytes, ids: list[int], exact: bool):
    """All tokens, after ids, that spell a text (or, unless exact, cross its end), with their probability."""
    if not text:
        yield ids, 1.0
        return
    for i, p in writable(lm, next_probabilities(lm, ids)).items():
        token = token_bytes(lm.tokenizer)[i]
        if token and text.startswith(token):
            for way, q in ways(lm, text[len(token) :], [*ids, i], exact):
                yield way, p * q
        elif token.startswith(text) and not exact:
            yield [*ids, i], p


def ends_word(lm, i: int) -> bool:
    return i == lm.end or not is_word_char(token_bytes(lm.tokenizer)[i].decode("latin-1")[0])


def word_probability(lm, context: list[int], pending: str, rest: str) -> float:
    """p(the word ends after rest | context, pending)."""
    total = sum(p for _, p in ways(lm, pending.encode(), context, exact=False))
    found = 0.0
    for way, p in ways(lm, (pending + rest).encode(), context, exact=True):
        follow = writable(lm, next_probabilities(lm, way))
        found += p * sum(q for i, q in follow.items() if ends_word(lm, i))
    return found / total


@pytest.mark.parametrize("make", [toy, real])
@pytest.mark.parametrize("kind", ["words", "whitespace"])
@pytest.mark.parametrize("text", ["Once u", "Once up", "Once upon a t", "Once ", "", "a\nth"])
def test_probabilities_of_words_are_shares_of_all_that_begin_so(kind, text, make):
    lm = make(kind)
    before, _, fragment = text.rpartition(" ") if "\n" not in text else ("a", "", "th")
    context = lm.tokenizer.encode(before) + [lm.end] * ("\n" in text)
    begun = {
        lm.tokenizer.items[i]: p
        for i, p in writable(lm, next_probabilities(lm, context)).items()
        if i > 3 and lm.tokenizer.items[i].startswith(fragment)
    }
    found = complete(lm, text, 64)
    expected = sorted(((p / sum(begun.values()), w) for w, p in begun.items()), reverse=True)
    assert [one.text for one in found] == [word for _, word in expected]
    assert [one.probability for one in found] == pytest.approx([p for p, _ in expected])
    assert all(fragment + one.rest == one.text for one in found)


def test_a_word_that_may_become_one_with_the_next_is_read_both_ways():
    lm = toy("words", ["don ' t", "don't you", "don't"])
    found = {one.rest: one.probability for one in complete(lm, "don'", 64)}
    [don], [quote], [dont] = (lm.tokenizer.encode(word) for word in ("don", "'", "don't"))
    first = writable(lm, next_probabilities(lm, []))
    apart = first[don] * writable(lm, next_probabilities(lm, [don]))[quote]
    total = first[dont] + apart
    assert found == pytest.approx({"t": first[dont] / total, "": apart / total})


@pytest.mark.parametrize("make", [toy, real])
@pytest.mark.parametrize("text", ["Once upo", "a ti", "the"])
def test_probabilities_of_characters_are_those_of_the_one_way_to_spell_each_word(text, make):
    lm = make("chars")
    found = complete(lm, text, 5)
    assert len(found) == 5
    for one in found:
        expected = word_probability(lm, lm.tokenizer.encode(text), "", one.rest)
        assert one.probability == pytest.approx(expected)
    assert [one.probability for one in found] == sorted((p for *_, p in found), reverse=True)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize(("context", "pending"), [("Once", " upo"), ("", "ti"), ("", "the")])
def test_probabilities_of_subwords_sum_over_all_ways_to_cut_the_word(kind, context, pending):
    lm = ascii_only(toy(kind))
    found = complete(lm, context + pending, 2, width=1000)
    assert len(found) == 2
    for one in found:
        expected = word_probability(lm, lm.tokenizer.encode(context), pending, one.rest)
        assert one.probability == pytest.approx(expected, rel=1e-3)


def test_the_search_finds_the_likeliest_of_all_words():
    lm = toy("chars", ["ab a b ba"], seed=3)
    found = complete(lm, "a", 4, width=2000)
    words = ["", "a", "b", "aa", "ab", "ba", "bb", "aaa", "aab", "aba", "abb", "baa", "bab", "bba", "bbb"]
    every = {rest: word_probability(lm, lm.tokenizer.encode("a"), "", rest) for rest in words}
    best = sorted(every, key=lambda rest: -every[rest])[:4]
    assert [one.rest for one in found] == best


def test_all_completions_sum_to_one():
    lm = toy("chars", ["ab a b ba"], seed=3)
    lm.net.output.b.data[lm.tokenizer.encode(" ")] += 2  # long words are rare
    for text in ("a", "", "a "):
        found = complete(lm, text, 500, width=500)
        assert sum(one.probability for one in found) == pytest.approx(1, abs=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_completion_begins_with_what_was_typed(kind):
    lm = real(kind)
    found = complete(lm, "Once upo", 3)
    assert found
    for one in found:
        assert one.text == "upo" + one.rest
        assert 0 < one.probability <= 1


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_upo_goes_on_to_upon(kind):
    assert complete(toy(kind), "Once upo") == [("upon", "n", pytest.approx(1))]


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_blank_come_the_next_words(kind):
    for one in complete(toy(kind), "Once ", 3):
        assert one.text
        assert one.rest.strip() == one.text


def test_nothing_completes_what_no_word_begins_with():
    assert complete(toy("words"), "xyz") == []


def test_a_model_of_lower_case_completes_any_case():
    assert [one.text for one in complete(toy("words", lower=True), "ONCE UPO")] == ["UPOn"]


def test_a_symbol_is_a_word():
    lm = toy("words")
    assert "," in {one.text for one in complete(lm, "Once ", 64)}
    assert complete(lm, "Once,")[0].text == ","


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_of_more_is_the_only_one_that_is_asked_for(kind):
    lm = toy(kind)
    assert complete(lm, "Once u", 1, width=8)[0].text == complete(lm, "Once u", 8, width=8)[0].text
    assert len(complete(lm, "Once u", 1)) == 1


@pytest.mark.parametrize(
    ("characters", "inside"), [("aé汉7_'’-‐‑\u0301\u094d", True), (" .,!\n«/", False)], ids=["word", "none"]
)
def test_letters_digits_marks_and_what_joins_them_make_words(characters, inside):
    assert [is_word_char(c) for c in characters] == [inside] * len(characters)


def test_more_than_the_search_is_wide_cannot_be_asked_for():
    with pytest.raises(ConfigError, match="k is 65; it must be from 1 to the width of the search, 64"):
        complete(toy("chars"), "a", 65)
