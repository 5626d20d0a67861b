"""How well spans were found: only the same label from the same start to the same end counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from elman.errors import DataError
from elman.metrics.classification import LabelScore

Spans = Collection[tuple[str, int, int]]  # of one sentence: label, start, end


@dataclass(frozen=True)
class SpanScores:
    """All spans together, as conlleval counts (micro), and those of each label, sorted."""

    overall: LabelScore
    labels: dict[str, LabelScore]


def span_scores(gold: Sequence[Spans], guess: Sequence[Spans]) -> SpanScores:
    """Precision, recall and F1 = 2 tp / (gold + guessed), in percent; a share of nothing is 0."""
    if len(gold) != len(guess):
        raise DataError(f"{len(gold)} gold sentences cannot be compared with {len(guess)} guesses")
    if not gold:
        raise DataError("there are no sentences to score")
    golds = Counter(label for one in gold for label, _, _ in set(one))
    guesses = Counter(label for one in guess for label, _, _ in set(one))
    both = (set(g) & set(p) for g, p in zip(gold, guess, strict=True))
    right = Counter(label for one in both for label, _, _ in one)
    return SpanScores(
        overall=_score(right.total(), golds.total(), guesses.total()),
        labels={
            label: _score(right[label], golds[label], guesses[label])
            for label in sorted(golds.keys() | guesses.keys())
        },
    )


def _score(right: int, gold: int, guessed: int) -> LabelScore:
    return LabelScore(
        precision=_percent(right, guessed),
        recall=_percent(right, gold),
        f1=_percent(2 * right, gold + guessed),
        support=gold,
    )


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
