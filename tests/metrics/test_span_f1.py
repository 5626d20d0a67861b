from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.metrics import LabelScore, span_scores

Spans = list[tuple[str, int, int]]

places = st.integers(0, 2)
spans = st.lists(st.tuples(st.sampled_from("XYZ"), places, places), max_size=4)
corpora = st.lists(st.tuples(spans, spans), min_size=1, max_size=5)


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def agree(score: LabelScore, gold: list[tuple], guess: list[tuple]) -> None:
    precision = 100 * sum(one in gold for one in guess) / len(guess) if guess else 0.0
    recall = 100 * sum(one in guess for one in gold) / len(gold) if gold else 0.0
    assert score.precision == pytest.approx(precision)
    assert score.recall == pytest.approx(recall)
    assert score.f1 == pytest.approx(harmonic(precision, recall))
    assert score.support == len(gold)


@given(corpora)
def test_span_scores_follow_their_definitions(corpus: list[tuple[Spans, Spans]]) -> None:
    scores = span_scores([g for g, _ in corpus], [p for _, p in corpus])
    # One long sentence whose spans know where they come from, each once.
    gold = sorted({(label, a, b, n) for n, (g, _) in enumerate(corpus) for label, a, b in g})
    guess = sorted({(label, a, b, n) for n, (_, p) in enumerate(corpus) for label, a, b in p})
    agree(scores.overall, gold, guess)
    assert list(scores.labels) == sorted({one[0] for one in gold + guess})
    for label, score in scores.labels.items():
        agree(score, [g for g in gold if g[0] == label], [p for p in guess if p[0] == label])


def test_a_span_counts_only_in_its_own_sentence() -> None:
    one = [("X", 0, 1)]
    assert span_scores([one, []], [[], one]).overall.f1 == 0
    assert span_scores([one, []], [one, []]).overall.f1 == 100


def test_without_spans_the_scores_are_zero() -> None:
    scores = span_scores([[]], [[]])
    assert (scores.overall, scores.labels) == (LabelScore(0.0, 0.0, 0.0, 0), {})


def test_lists_that_do_not_match_are_refused() -> None:
    with pytest.raises(DataError, match="1 gold sentences cannot be compared with 2 guesses"):
        span_scores([[]], [[], []])
    with pytest.raises(DataError, match="no examples"):
        span_scores([], [])
