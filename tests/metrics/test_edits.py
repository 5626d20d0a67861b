from __future__ import annotations

from functools import cache

import jiwer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from elman.errors import DataError
from elman.metrics import edit_distance, edit_distances, edit_rate, exact_match

strings = st.text("abc", max_size=7)
rows = st.lists(st.tuples(strings, strings), max_size=6)


@cache
def slow(a: str, b: str) -> int:
    """Levenshtein's distance as it is defined."""
    if not a or not b:
        return len(a) + len(b)
    return min(slow(a[1:], b) + 1, slow(a, b[1:]) + 1, slow(a[1:], b[1:]) + (a[0] != b[0]))


def padded(strings: list[str], width: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    # The padding is a letter, so that a look behind the mask would show.
    ids = np.array([[ord(c) for c in one.ljust(width, "a")] for one in strings], np.int64)
    mask = np.array([[place < len(one) for place in range(width)] for one in strings], np.bool_)
    return ids.reshape(len(strings), width), mask.reshape(len(strings), width)


@given(strings, strings)
@settings(max_examples=500)
def test_the_distance_is_that_of_the_definition(a: str, b: str) -> None:
    assert edit_distance(a, b) == slow(a, b)


@given(st.lists(st.integers(0, 2), max_size=150), st.lists(st.integers(0, 2), max_size=150))
def test_both_ways_to_compute_a_distance_agree_at_any_length(a: list[int], b: list[int]) -> None:
    tokens, others = np.array([a], np.int64), np.array([b], np.int64)
    every, all_others = np.ones_like(tokens, np.bool_), np.ones_like(others, np.bool_)
    assert edit_distances(tokens, every, others, all_others).tolist() == [edit_distance(a, b)]


@given(rows, st.integers(0, 2), st.integers(0, 2))
@settings(max_examples=200)
def test_rows_have_the_distances_of_their_tokens_whatever_the_padding(
    pairs: list[tuple[str, str]], more: int, more_others: int
) -> None:
    a, b = [one for one, _ in pairs], [other for _, other in pairs]
    tokens, mask = padded(a, max(map(len, a), default=0) + more)
    others, other_mask = padded(b, max(map(len, b), default=0) + more_others)
    distances = edit_distances(tokens, mask, others, other_mask)
    assert distances.tolist() == [slow(*pair) for pair in pairs]


sentences = st.lists(st.sampled_from(["u", "v", "w"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5))
def test_the_edit_rate_with_one_reference_is_the_word_error_rate(
    pairs: list[tuple[list[str], list[str]]],
) -> None:
    outputs, references = [one for one, _ in pairs], [other for _, other in pairs]
    rate = jiwer.wer([" ".join(one) for one in references], [" ".join(one) for one in outputs])
    assert edit_rate(outputs, [[one] for one in references]) == pytest.approx(100 * rate)


def test_of_several_references_the_nearest_counts_with_its_length() -> None:
    assert edit_rate(["ab", "c"], [["abcd", "ax", "zzzz"], ["c"]]) == pytest.approx(100 * 1 / 3)


def test_of_equally_near_references_the_longest_counts() -> None:
    for references in (["a", "abc"], ["abc", "a"]):
        assert edit_rate(["ab"], [references]) == pytest.approx(100 * 1 / 3)


def test_exact_counts_outputs_that_equal_any_reference() -> None:
    assert exact_match(["a", "b", "", "d"], [["x", "a"], ["x"], [""], ["", "dd"]]) == 50
    assert exact_match([[1, 2], (1, 2)], [[(1, 2)], [[2, 1]]]) == 50


def test_without_edits_the_rate_is_zero_and_without_tokens_there_is_none() -> None:
    assert edit_rate([""], [["", "abc"]]) == 0
    assert edit_rate(["", "a"], [[""], ["a"]]) == 0
    assert edit_rate(["", ""], [["a"], ["bcd"]]) == 100
    with pytest.raises(DataError, match="hold no tokens"):
        edit_rate(["a"], [[""]])


@pytest.mark.parametrize("metric", [edit_rate, exact_match])
def test_what_cannot_be_scored_is_refused(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(DataError, match="1 hypotheses cannot be compared with the references of 2"):
        metric(["a"], [["a"], ["b"]])
    with pytest.raises(DataError, match="no hypotheses"):
        metric([], [])
    with pytest.raises(DataError, match="hypothesis 1 has no reference"):
        metric(["a"], [[]])
    with pytest.raises(DataError, match="one string"):
        metric(["ab"], ["ab"])
    with pytest.raises(DataError, match="hypothesis 1 and its references are not alike"):
        metric([["a", "b"]], [["a", "b"]])


def test_rows_that_do_not_fit_are_refused() -> None:
    ids, mask = np.zeros((2, 2), np.int64), np.array([[True, False], [False, True]])
    with pytest.raises(DataError, match="1 rows cannot be compared with 2"):
        edit_distances(ids[:1], mask[:1], ids, mask)
    with pytest.raises(DataError, match="tokens after padding"):
        edit_distances(ids, mask, ids, mask)


def test_a_gap_among_the_tokens_of_a_row_is_refused() -> None:
    ids, gap = np.zeros((1, 3), np.int64), np.array([[True, False, True]])
    with pytest.raises(DataError, match="tokens after padding"):
        edit_distances(ids, gap, ids, np.ones_like(gap))
