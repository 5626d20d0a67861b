"""Whether probabilities mean what they say: of all answers that are 80 % sure, are 80 % right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elman.errors import DataError


@dataclass(frozen=True)
class ReliabilityBin:
    """Answers whose confidence is in (lower, upper]: how many, how sure on average, which share is right."""

    lower: float
    upper: float
    count: int
    confidence: float
    accuracy: float


def reliability_bins(
    confidences: Sequence[float], right: Sequence[bool], bins: int = 15
) -> list[ReliabilityBin]:
    """The bins of equal width that have answers in them, the least sure first."""
    if len(confidences) != len(right):
        raise DataError(f"{len(confidences)} confidences cannot be compared with {len(right)} answers")
    sure, edges = np.asarray(confidences, float), [i / bins for i in range(bins + 1)]
    place = np.clip(np.searchsorted(edges, sure) - 1, 0, bins - 1)
    counts, totals, good = (
        np.bincount(place, weights, bins).tolist() for weights in (None, sure, np.asarray(right, float))
    )
    return [
        ReliabilityBin(edges[i], edges[i + 1], counts[i], totals[i] / counts[i], good[i] / counts[i])
        for i in range(bins)
        if counts[i]
    ]


def calibration_error(confidences: Sequence[float], right: Sequence[bool], bins: int = 15) -> float:
    """The expected calibration error, Σ_b |B_b| / n · |accuracy(B_b) - confidence(B_b)| (Guo et al. 2017)."""
    if not confidences:
        raise DataError("there are no examples to score")
    found = reliability_bins(confidences, right, bins)
    return 100.0 * sum(b.count * abs(b.accuracy - b.confidence) for b in found) / len(confidences)
