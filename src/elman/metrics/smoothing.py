"""What stands for an n-gram precision of zero, which would make all of BLEU zero.

The four of Chen and Cherry (2014), "A systematic comparison of smoothing techniques for
sentence-level BLEU", that sacreBLEU has. Each takes how many n-grams matched and how many there
are, by length, and returns the precisions as far as there are n-grams.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elman.errors import ConfigError

Smoothing = Callable[[Sequence[int], Sequence[int]], list[float]]


def exponential(matched: Sequence[int], total: Sequence[int]) -> list[float]:
    """The k-th length without a match counts as 2^-k matches; sacreBLEU's ``exp``."""
    precisions, part = [], 1.0
    for m, n in zip(matched, total, strict=True):
        if n and not m:
            part /= 2
        if n:
            precisions.append((m or part) / n)
    return precisions


def unsmoothed(matched: Sequence[int], total: Sequence[int]) -> list[float]:
    """The plain shares; sacreBLEU's ``none``."""
    return [m / n for m, n in zip(matched, total, strict=True) if n]


@dataclass(frozen=True)
class Floor:
    """A length without a match counts as ``value`` matches; sacreBLEU's ``floor``."""

    value: float = 0.1

    def __post_init__(self) -> None:
        _check("floor", self.value)

    def __call__(self, matched: Sequence[int], total: Sequence[int]) -> list[float]:
        return [(m or self.value) / n for m, n in zip(matched, total, strict=True) if n]


@dataclass(frozen=True)
class AddK:
    """``k`` more matches and ``k`` more n-grams of each length above one; sacreBLEU's ``add-k``."""

    k: float = 1.0

    def __post_init__(self) -> None:
        _check("k", self.k)

    def __call__(self, matched: Sequence[int], total: Sequence[int]) -> list[float]:
        counts = zip(matched[1:], total[1:], strict=True)
        longer = [(m + self.k) / (n + self.k) for m, n in counts]
        return unsmoothed(matched[:1], total[:1]) + longer


def _check(name: str, value: float) -> None:
    if not value > 0:
        raise ConfigError(f"{name} of a smoothing is {value}; a number above 0 would be right")
