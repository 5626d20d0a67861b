"""The obvious baseline: a simple model of the same examples, judged by the same data as the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np


class BaselineResult(NamedTuple):
    """What a simple model scored."""

    name: str  # for people: "bag of n-grams"
    scores: Mapping[str, float]
    seconds: float = 0.0  # that it took before it was asked for, as a part of the model


def choose_better(
    results: Sequence[BaselineResult], metric: str, best: Literal["max", "min"]
) -> BaselineResult:
    """The one with the better score; of equals the first."""
    pick = max if best == "max" else min
    return pick(results, key=lambda result: result.scores[metric])


def draw_part(count: int, cost: float, most: float) -> Sequence[int]:
    """Numbers of examples that cost no more than ``most``, if all cost ``cost``; the same ones each time."""
    if cost <= most:
        return range(count)
    size = max(1, int(count * most / cost))
    found: Sequence[int] = np.sort(np.random.default_rng(0).choice(count, size, replace=False)).tolist()
    return found


def name_part(name: str, part: int, count: int, unit: str) -> str:
    """The name of a model, which says so if it saw a part of the examples only."""
    return name if part == count else f"{name} of {part:,} {unit}"
