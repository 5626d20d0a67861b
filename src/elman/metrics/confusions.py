"""Which labels are taken for which, the most frequent first: for more labels than a matrix can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 12  # pairs that are worth a look


@dataclass(frozen=True)
class ConfusedPair:
    """``gold`` was taken for ``predicted`` so many times, first in ``example``."""

    gold: str
    predicted: str
    count: int
    example: str


def most_confused(
    gold: Sequence[str], guess: Sequence[str], examples: Sequence[str], *, most: int = MOST
) -> list[ConfusedPair]:
    """The pairs that are confused most often; of equally frequent ones, those that come first in the data."""
    counts: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for right, said, example in zip(gold, guess, examples, strict=True):
        if right != said:
            counts[right, said] += 1
            first.setdefault((right, said), example)
    return [ConfusedPair(*pair, count, first[pair]) for pair, count in counts.most_common(most)]
