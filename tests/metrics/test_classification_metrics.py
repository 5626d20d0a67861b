from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.metrics import accuracy, confusion, label_scores, macro_f1

pairs = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abce")), min_size=1)


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(pairs)
def test_accuracy_is_the_share_of_hits(data: list[tuple[str, str]]) -> None:
    gold, guess = [g for g, _ in data], [p for _, p in data]
    hits = [index for index in range(len(data)) if gold[index] == guess[index]]
    assert accuracy(gold, guess) == pytest.approx(100 * len(hits) / len(data))


@given(pairs)
def test_label_scores_follow_their_definitions(data: list[tuple[str, str]]) -> None:
    gold, guess = [g for g, _ in data], [p for _, p in data]
    scores = label_scores(gold, guess)
    assert list(scores) == sorted({label for pair in data for label in pair})
    for label, score in scores.items():
        guessed = [g for g, p in data if p == label]
        wanted = [p for g, p in data if g == label]
        precision = 100 * guessed.count(label) / len(guessed) if guessed else 0.0
        recall = 100 * wanted.count(label) / len(wanted) if wanted else 0.0
        assert score.precision == pytest.approx(precision)
        assert score.recall == pytest.approx(recall)
        assert score.f1 == pytest.approx(harmonic(precision, recall))
        assert score.support == len(wanted)
    assert macro_f1(gold, guess) == pytest.approx(sum(score.f1 for score in scores.values()) / len(scores))


def test_macro_f1_counts_a_label_that_was_only_guessed() -> None:
    # a: precision 1, recall 1/2, F1 2/3; b was never right to guess: F1 0.
    assert macro_f1(["a", "a"], ["a", "b"]) == pytest.approx(100 / 3)


@given(pairs)
def test_the_confusion_matrix_counts_every_pair(data: list[tuple[str, str]]) -> None:
    gold, guess = [g for g, _ in data], [p for _, p in data]
    matrix = confusion(gold, guess)
    for i, g in enumerate(matrix.labels):
        for j, p in enumerate(matrix.labels):
            assert matrix.counts[i][j] == data.count((g, p))
    assert sum(map(sum, matrix.counts)) == len(data)


@pytest.mark.parametrize("metric", [accuracy, macro_f1, confusion, label_scores])
def test_lists_that_do_not_match_are_refused(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(DataError, match="1 gold labels cannot be compared with 2 guesses"):
        metric(["a"], ["a", "b"])
    with pytest.raises(DataError, match="no examples"):
        metric([], [])
