"""Is the difference of two systems on the same examples more than chance?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import DataError
from elman.metrics.counted_scores import CountedScore

SEED = 12345  # that of sacreBLEU
TRIALS = 10_000  # of a permutation test; where all swaps are fewer, all are tried
SAMPLES = 1_000  # of a bootstrap
CHUNK = 2**22  # numbers drawn at once

Differences = npt.NDArray[np.float64]


class PairedResult(NamedTuple):
    """A score of two systems on the same examples: b - a, its 95 % interval, and p of no difference."""

    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float


def compare_by_permutation(a: CountedScore, b: CountedScore) -> PairedResult:
    """The interval by bootstrap, p by swapping the answers of the two: for accuracy and F1."""
    a, b = _align(a, b)
    return _result(a, b, bootstrap_differences(a, b), permutation_p_value(a, b))


def compare_by_bootstrap(a: CountedScore, b: CountedScore) -> PairedResult:
    """The interval and p by bootstrap, as sacreBLEU computes them for BLEU and chrF."""
    a, b = _align(a, b)
    differences = bootstrap_differences(a, b)
    return _result(a, b, differences, bootstrap_p_value(differences, b() - a()))


def permutation_p_value(a: CountedScore, b: CountedScore, *, trials: int = TRIALS, seed: int = SEED) -> float:
    """How often a difference is as large as this one if the answers to each example are swapped at random.

    Two-sided (Yeh 2000, approximate randomization). Exact where all swaps are no more than ``trials``.
    """
    differ = (a.counts != b.counts).any(1)
    gain = (b.counts - a.counts)[differ]
    count, sum_a, sum_b = len(gain), a.counts.sum(0), b.counts.sum(0)
    exact = 2**count <= trials
    draws = _all_swaps(count) if exact else _random_swaps(count, trials, seed)
    observed = abs(b() - a()) - 1e-9  # the same difference may come out a rounding smaller
    extreme = 0
    for swaps in draws:
        for moved in swaps @ gain:
            extreme += abs(b.formula(sum_b - moved) - a.formula(sum_a + moved)) >= observed
    return extreme / 2**count if exact else (extreme + 1) / (trials + 1)


def bootstrap_differences(
    a: CountedScore, b: CountedScore, *, samples: int = SAMPLES, seed: int = SEED
) -> Differences:
    """b - a on samples of the examples, drawn with replacement (Koehn 2004)."""
    rng, size = np.random.default_rng(seed), len(a.counts)
    differences = []
    for rows in _portions(samples, size):
        for chosen in rng.choice(size, size=(rows, size), replace=True):
            often = np.bincount(chosen, minlength=size).astype(np.float64)
            differences.append(b.formula(often @ b.counts) - a.formula(often @ a.counts))
    return np.array(differences)


def bootstrap_p_value(differences: Differences, observed: float) -> float:
    """How often a sample differs from the mean difference by more than was observed, as sacreBLEU counts.

    Only where nothing differs it is 1: sacreBLEU would say the least p that there is.
    """
    if not observed:
        return 1.0
    sizes = np.abs(differences)
    more = int((sizes - sizes.mean() > abs(observed)).sum())
    return (more + 1) / (len(sizes) + 1)


def _align(a: CountedScore, b: CountedScore) -> tuple[CountedScore, CountedScore]:
    """Both with the same labels, of the same examples."""
    if len(a.counts) != len(b.counts):
        raise DataError(f"{len(a.counts)} and {len(b.counts)} examples cannot be compared one by one")
    if a.labels == b.labels:
        return a, b
    labels = sorted({*a.labels, *b.labels})
    return a.spread(labels), b.spread(labels)


def _result(a: CountedScore, b: CountedScore, differences: Differences, p: float) -> PairedResult:
    low, high = np.percentile(differences, [2.5, 97.5]).tolist()
    before, after = a(), b()
    return PairedResult(before, after, after - before, low, high, p)


def _all_swaps(count: int) -> Iterator[npt.NDArray[np.float64]]:
    numbers = np.arange(2**count)
    yield (numbers[:, None] >> np.arange(count) & 1).astype(np.float64)


def _random_swaps(count: int, trials: int, seed: int) -> Iterator[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    for rows in _portions(trials, count):
        yield rng.integers(2, size=(rows, count), dtype=np.int8).astype(np.float64)


def _portions(rows: int, width: int) -> Iterator[int]:
    """So many rows, some at a time."""
    most = max(1, CHUNK // max(1, width))
    for start in range(0, rows, most):
        yield min(most, rows - start)
