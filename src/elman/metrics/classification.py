"""How well single labels were guessed. Shares are percentages, 0 to 100."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from elman.errors import DataError


@dataclass(frozen=True)
class LabelScore:
    """One label against all others; `support` is how often it is right to guess it."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class Confusion:
    """``counts[i][j]``: how often label i was taken for label j."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def accuracy(gold: Sequence[str], guess: Sequence[str]) -> float:
    """The share of guesses that are right."""
    pairs = _pairs(gold, guess)
    return 100.0 * sum(g == p for g, p in pairs) / len(pairs)


def macro_f1(gold: Sequence[str], guess: Sequence[str]) -> float:
    """The mean F1 of all labels that occur among gold or guesses, rare ones like frequent ones."""
    scores = label_scores(gold, guess).values()
    return sum(score.f1 for score in scores) / len(scores)


def label_scores(gold: Sequence[str], guess: Sequence[str]) -> dict[str, LabelScore]:
    """Precision, recall and F1 = 2 tp / (gold + guessed) a label; a share of nothing is 0."""
    right = Counter(g for g, p in _pairs(gold, guess) if g == p)
    golds, guesses = Counter(gold), Counter(guess)
    return {
        label: LabelScore(
            precision=_percent(right[label], guesses[label]),
            recall=_percent(right[label], golds[label]),
            f1=_percent(2 * right[label], golds[label] + guesses[label]),
            support=golds[label],
        )
        for label in sorted(golds.keys() | guesses.keys())
    }


def confusion(gold: Sequence[str], guess: Sequence[str]) -> Confusion:
    """The confusion matrix of all labels that occur, sorted; gold labels are the rows."""
    counts = Counter(_pairs(gold, guess))
    labels = tuple(sorted({*gold, *guess}))
    return Confusion(labels, tuple(tuple(counts[g, p] for p in labels) for g in labels))


def _pairs(gold: Sequence[str], guess: Sequence[str]) -> list[tuple[str, str]]:
    if len(gold) != len(guess):
        raise DataError(f"{len(gold)} gold labels cannot be compared with {len(guess)} guesses")
    if not gold:
        raise DataError("there are no examples to score")
    return list(zip(gold, guess, strict=True))


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
