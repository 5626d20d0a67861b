"""Calibration error against a brute-force count."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elman.errors import DataError
from elman.metrics import calibration_error, reliability_bins

CHANCES = st.floats(0, 1) | st.integers(0, 15).map(lambda i: i / 15)  # inside bins, and on their edges
ANSWERS = st.lists(st.tuples(CHANCES, st.booleans()), min_size=1, max_size=40)


def brute_force(answers: list[tuple[float, bool]], bins: int) -> float:
    """Σ over bins of |right answers - sum of confidences| / n."""
    total = 0.0
    for i in range(bins):
        lower, upper = i / bins, (i + 1) / bins
        inside = [(p, good) for p, good in answers if lower < p <= upper or (i == 0 and p == 0)]
        total += abs(sum(good for _, good in inside) - sum(p for p, _ in inside))
    return 100 * total / len(answers)


@example(answers=[(1 / 15, True), (0.05, False)], bins=15)
@given(answers=ANSWERS, bins=st.sampled_from([1, 3, 15, 20]))
def test_the_error_is_what_a_count_bin_by_bin_gives(answers, bins):
    sure, right = zip(*answers, strict=True)
    assert calibration_error(sure, right, bins) == pytest.approx(brute_force(answers, bins), abs=1e-9)


@given(answers=ANSWERS)
def test_bins_hold_every_answer_once_and_their_mean_is_inside(answers):
    bins = reliability_bins(*zip(*answers, strict=True))
    assert sum(b.count for b in bins) == len(answers)
    assert all(b.lower - 1e-12 <= b.confidence <= b.upper + 1e-12 for b in bins)


def test_answers_drawn_with_their_own_confidence_are_calibrated_and_surer_ones_are_not():
    dice = np.random.default_rng(0)
    chances = dice.uniform(0.1, 0.9, 20_000)
    right = (dice.uniform(size=20_000) < chances).tolist()
    assert calibration_error(chances.tolist(), right) < 1.5
    assert calibration_error((chances + 0.1).tolist(), right) == pytest.approx(10, abs=1.5)


def test_unequal_lists_and_no_examples_are_refused():
    with pytest.raises(DataError, match="2 confidences cannot be compared with 1"):
        calibration_error([0.5, 0.5], [True])
    with pytest.raises(DataError, match="no examples"):
        calibration_error([], [])
