"""Learning rates, and what the history of a metric says about them.

``progress`` runs from 0 to 1 over a training run; ``merits`` are the evaluations so far, as numbers
of which the higher is the better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, inf, pi

from elman.training.settings import Settings


def rate(settings: Settings, progress: float, merits: Sequence[float]) -> float:
    """The learning rate of an update."""
    lowered = reductions(merits, settings.plateau) if settings.schedule == "plateau" else 0
    shape = SHAPES[settings.schedule](progress, settings.warmup)
    return settings.lr * shape * settings.factor**lowered


def constant(progress: float, warmup: float) -> float:
    """p / w while p < w, then 1."""
    return progress / warmup if progress < warmup else 1.0


def cosine(progress: float, warmup: float) -> float:
    """p / w while p < w, then (1 + cos π (p - w) / (1 - w)) / 2."""
    if progress < warmup:
        return progress / warmup
    return _fall((progress - warmup) / (1 - warmup))


def one_cycle(progress: float, warmup: float) -> float:
    """Up from 1/25 to 1 while p < w, then down to 1/250,000, both as half a cosine (Smith 2018)."""
    low, end = 1 / 25, 1 / 250_000
    if progress < warmup:
        return 1 - (1 - low) * _fall(progress / warmup)
    return end + (1 - end) * _fall((progress - warmup) / (1 - warmup))


SHAPES: dict[str, Callable[[float, float], float]] = {
    "constant": constant,
    "cosine": cosine,
    "plateau": constant,
    "one_cycle": one_cycle,
}


def waited(merits: Sequence[float]) -> int:
    """Evaluations since the best."""
    return len(merits) - 1 - merits.index(max(merits)) if merits else 0


def reductions(merits: Sequence[float], wait: int) -> int:
    """How often ``wait`` evaluations in a row brought nothing better than the best before."""
    best, idle, count = -inf, 0, 0
    for merit in merits:
        idle = 0 if merit > best else idle + 1
        best = max(best, merit)
        if idle == wait:
            idle, count = 0, count + 1
    return count


def triggered(merits: Sequence[float], wait: int) -> bool:
    """Whether the newest evaluation is worse than the best of those at least ``wait`` before it.

    The trigger of NT-ASGD (Merity et al. 2018), in the reading of its authors' program.
    """
    earlier = merits[: -wait - 1]
    return bool(earlier) and merits[-1] < max(earlier)


def _fall(share: float) -> float:
    return (1 + cos(pi * share)) / 2
