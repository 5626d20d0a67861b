"""How errors fall with the size of the data: error ≈ a · n^-b (Hestness et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

LEAST = 4  # points for a fit
FIT = 0.9  # R² of a good one
MISS = 0.15  # by how much it may miss the largest size when it is fitted to the others


@dataclass(frozen=True)
class PowerLaw:
    """``error(n) = scale · n^-exponent``, and how well it fits."""

    scale: float
    exponent: float
    r2: float  # of log error
    missed: float  # of the error at the largest size, what a fit to the smaller ones is off by

    @property
    def good(self) -> bool:
        """Whether it may be believed beyond the data: it falls, fits, and foretold its last point."""
        return self.exponent > 0 and self.r2 >= FIT and self.missed <= MISS

    def error(self, size: float) -> float:
        """The error that it expects."""
        return float(self.scale * size**-self.exponent)


def fit_power_law(sizes: Sequence[int], errors: Sequence[float]) -> PowerLaw | None:
    """Least squares of log error over log size; None with too few points or where an error is 0."""
    if len(set(sizes)) < LEAST or min(errors) <= 0:
        return None
    scale, exponent = _line(sizes, errors)
    residuals = np.log(errors) - np.log([scale * n**-exponent for n in sizes])
    total = np.log(errors) - np.log(errors).mean()
    r2 = 1 - float(residuals @ residuals) / float(total @ total) if total.any() else 0.0
    before, slope = _line(sizes[:-1], errors[:-1])
    missed = abs(before * sizes[-1] ** -slope / errors[-1] - 1)
    return PowerLaw(scale, exponent, r2, float(missed))


def _line(sizes: Sequence[int], errors: Sequence[float]) -> tuple[float, float]:
    slope, level = np.polyfit(np.log(sizes), np.log(errors), 1)
    return float(np.exp(level)), float(-slope)


def error_of(metric: str, score: float) -> float:
    """What a score lacks: of a percentage the rest, of a perplexity its nats, of a rate or nats itself."""
    if metric == "perplexity":
        return log(score)
    return score if metric in ("edit_rate", "nats_per_token") else 100 - score


def score_of(metric: str, error: float) -> float:
    """The score that lacks so much."""
    if metric == "perplexity":
        return exp(error)
    return error if metric in ("edit_rate", "nats_per_token") else 100 - error
