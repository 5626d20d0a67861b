"""How well labels, and spans with a label, were guessed. Shares are percentages, 0 to 100."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from elman.errors import DataError

T = TypeVar("T")

Spans = Collection[tuple[str, int, int]]  # of one sentence: label, start, end


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


@dataclass(frozen=True)
class SpanScores:
    """All spans together, as conlleval counts (micro), and those of each label, sorted."""

    overall: LabelScore
    labels: dict[str, LabelScore]


@dataclass(frozen=True)
class MultilabelScores:
    """Several labels a text: all decisions together (micro), each label, and all labels of a text right."""

    overall: LabelScore
    labels: dict[str, LabelScore]
    exact: float

    @property
    def macro_f1(self) -> float:
        """The mean F1 of all labels that occur among gold or guesses; without any it is 0."""
        return sum(score.f1 for score in self.labels.values()) / max(1, len(self.labels))


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
    return _scores(right, Counter(gold), Counter(guess))


def confusion(gold: Sequence[str], guess: Sequence[str]) -> Confusion:
    """The confusion matrix of all labels that occur, sorted; gold labels are the rows."""
    counts = Counter(_pairs(gold, guess))
    labels = tuple(sorted({*gold, *guess}))
    return Confusion(labels, tuple(tuple(counts[g, p] for p in labels) for g in labels))


def span_scores(gold: Sequence[Spans], guess: Sequence[Spans]) -> SpanScores:
    """The scores of spans: only the same label from the same start to the same end is right."""
    both = (set(g) & set(p) for g, p in _pairs(gold, guess, "sentences"))
    right, golds, guesses = (
        Counter(label for one in side for label, _, _ in set(one)) for side in (both, gold, guess)
    )
    overall = _score(right.total(), golds.total(), guesses.total())
    return SpanScores(overall, _scores(right, golds, guesses))


def multilabel_scores(gold: Sequence[Collection[str]], guess: Sequence[Collection[str]]) -> MultilabelScores:
    """The scores of sets of labels, any of which may be empty."""
    pairs = [(set(g), set(p)) for g, p in _pairs(gold, guess, "texts")]
    right = Counter(label for g, p in pairs for label in g & p)
    golds, guesses = (Counter(label for pair in pairs for label in pair[side]) for side in (0, 1))
    overall = _score(right.total(), golds.total(), guesses.total())
    exact = 100.0 * sum(g == p for g, p in pairs) / len(pairs)
    return MultilabelScores(overall, _scores(right, golds, guesses), exact)


def _scores(right: Counter[str], golds: Counter[str], guesses: Counter[str]) -> dict[str, LabelScore]:
    labels = sorted(golds.keys() | guesses.keys())
    return {label: _score(right[label], golds[label], guesses[label]) for label in labels}


def _score(right: int, gold: int, guessed: int) -> LabelScore:
    shares = ((right, guessed), (right, gold), (2 * right, gold + guessed))
    precision, recall, f1 = (100.0 * part / whole if whole else 0.0 for part, whole in shares)
    return LabelScore(precision, recall, f1, support=gold)


def _pairs(gold: Sequence[T], guess: Sequence[T], what: str = "labels") -> list[tuple[T, T]]:
    if len(gold) != len(guess):
        raise DataError(f"{len(gold)} gold {what} cannot be compared with {len(guess)} guesses")
    if not gold:
        raise DataError("there are no examples to score")
    return list(zip(gold, guess, strict=True))
