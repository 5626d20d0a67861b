"""Paired tests against all swaps by hand, the exact sign test, and sacreBLEU."""

import itertools
import math
import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from elman.errors import DataError
from elman.metrics import macro_f1
from elman.metrics.counted_scores import count_bleu, count_chrf, count_labels, count_mean, count_right
from elman.metrics.significance import (
    _portions,
    bootstrap_differences,
    bootstrap_p_value,
    compare_by_bootstrap,
    compare_by_permutation,
    permutation_p_value,
)


def labels(seed: int, size: int) -> tuple[list[str], list[str], list[str]]:
    rng = random.Random(seed)
    gold = rng.choices("abc", k=size)
    return gold, *([g if rng.random() < 0.6 else rng.choice("abc") for g in gold] for _ in range(2))


@pytest.mark.parametrize("seed", range(4))
def test_a_small_test_equals_all_swaps_by_hand(seed):
    gold, a, b = labels(seed, 10)
    observed = abs(macro_f1(gold, b) - macro_f1(gold, a))
    extreme = 0
    for swaps in itertools.product([False, True], repeat=10):
        left = [y if s else x for s, x, y in zip(swaps, a, b, strict=True)]
        right = [x if s else y for s, x, y in zip(swaps, a, b, strict=True)]
        extreme += abs(macro_f1(gold, right) - macro_f1(gold, left)) >= observed - 1e-9
    assert permutation_p_value(count_labels(gold, a), spread(gold, a, b)) == pytest.approx(extreme / 2**10)


def spread(gold, a, b):
    score = count_labels(gold, b)
    assert score.labels == count_labels(gold, a).labels
    return score


def sign_test(fewer: int, more: int) -> float:
    """Exact, two-sided (McNemar)."""
    both = fewer + more
    return min(1.0, 2 * sum(math.comb(both, k) for k in range(min(fewer, more) + 1)) / 2**both)


@pytest.mark.parametrize(("only_a", "only_b"), [(2, 9), (30, 55), (40, 44), (0, 0), (5, 5)])
def test_accuracy_is_tested_as_the_sign_test_does(only_a, only_b):
    a = count_right([True] * only_a + [False] * only_b + [True] * 50)
    b = count_right([False] * only_a + [True] * only_b + [True] * 50)
    exact = sign_test(only_a, only_b)
    assert permutation_p_value(a, b) == pytest.approx(
        exact, abs=4 * math.sqrt(exact * (1 - exact) / 1e4) + 1e-4
    )


def test_a_difference_that_no_draw_reaches_counts_once_for_itself():
    """Of 40 answers all are better: 2^-39 of the swaps are as extreme, of 99 draws none."""
    worse, better = count_right([False] * 40), count_right([True] * 40)
    assert permutation_p_value(worse, better, trials=99) == 1 / 100


@pytest.mark.parametrize("seed", range(8))
def test_no_swap_and_all_swaps_are_as_extreme_whatever_is_rounded(seed):
    """Every answer is better: of 32 swaps only these two reach the difference."""
    rng = np.random.default_rng(seed)
    a, gain = rng.random(5), rng.random(5)
    assert permutation_p_value(count_mean(a), count_mean(a + gain)) == 2 / 32


def test_the_same_seed_gives_the_same_p():
    gold, a, b = labels(1, 200)
    one, other = (count_right([g == p for g, p in zip(gold, side, strict=True)]) for side in (a, b))
    assert permutation_p_value(one, other) == permutation_p_value(one, other)
    assert compare_by_permutation(one, other) == compare_by_permutation(one, other)


def texts(seed: int, size: int) -> tuple[list[str], list[str], list[str]]:
    rng = random.Random(seed)
    right = [
        " ".join(rng.choices(["the", "cat", "sat", "on", "a", "red", "mat", "near", "it", "."], k=9))
        for _ in range(size)
    ]

    def damage(share: float) -> list[str]:
        return [" ".join("dog" if rng.random() < share else w for w in text.split()) for text in right]

    return right, damage(0.25), damage(0.20)


def test_bleu_and_chrf_are_tested_as_sacrebleu_does():
    right, a, b = texts(0, 60)
    metrics = {"BLEU": BLEU(), "chrF": CHRF()}
    _, scores = PairedTest([("a", a), ("b", b)], metrics, [right], test_type="bs", n_samples=1000)()
    theirs = {name: found[1] for name, found in scores.items() if name != "System"}
    references = [[one] for one in right]
    for name, count in (("BLEU", count_bleu), ("chrF2", count_chrf)):
        one, other = count(a, references), count(b, references)
        found = compare_by_bootstrap(one, other)
        assert found.b == pytest.approx(theirs[name].score)
        assert found.p == pytest.approx(theirs[name].p_value)
        assert 0.001 < found.p < 1


def test_drawing_in_portions_changes_nothing(monkeypatch):
    a, b = count_mean(range(7)), count_mean([3] * 7)
    whole = bootstrap_differences(a, b)
    for few in (30, 1):
        monkeypatch.setattr("elman.metrics.significance.CHUNK", few)
        np.testing.assert_array_equal(bootstrap_differences(a, b), whole)


@pytest.mark.parametrize(("width", "rows"), [(7, 4), (1, 30), (0, 30), (31, 1)])
def test_no_more_numbers_are_drawn_at_once_than_there_is_room_for(width, rows, monkeypatch):
    monkeypatch.setattr("elman.metrics.significance.CHUNK", 30)
    portions = list(_portions(100, width))
    assert sum(portions) == 100
    assert max(portions) == rows


def test_the_interval_of_a_mean_is_that_of_statistics():
    rng = np.random.default_rng(3)
    a, gain = rng.normal(size=400), rng.normal(0.3, 1.0, 400)
    found = compare_by_permutation(count_mean(a), count_mean(a + gain))
    error = gain.std() / math.sqrt(400)
    assert found.difference == pytest.approx(gain.mean())
    assert found.low == pytest.approx(gain.mean() - 1.96 * error, abs=0.3 * error)
    assert found.high == pytest.approx(gain.mean() + 1.96 * error, abs=0.3 * error)
    assert found.p < 0.001


def test_labels_that_only_one_system_says_are_counted_for_both():
    gold = ["x", "y"] * 20
    a, b = count_labels(gold, ["x", "y"] * 20), count_labels(gold, ["x", "z"] * 20)
    found = compare_by_permutation(a, b)
    assert (found.a, found.b) == (100.0, pytest.approx(macro_f1(gold, ["x", "z"] * 20)))


def test_equal_systems_do_not_differ():
    a = count_right([True, False, True])
    assert compare_by_permutation(a, a)[2:] == (0.0, 0.0, 0.0, 1.0)
    assert bootstrap_p_value(np.zeros(1000), 0.0) == 1


def test_samples_that_differ_by_just_what_was_observed_do_not_differ_by_more():
    differences = np.array([0.0, 2.0, 0.0, -2.0])  # their size is 1 on average: half are 1 away from that
    assert bootstrap_p_value(differences, 1.0) == 1 / 5
    assert bootstrap_p_value(differences, 0.5) == 3 / 5


def test_different_examples_are_refused():
    with pytest.raises(DataError, match="2 and 3 examples"):
        compare_by_permutation(count_right([True] * 2), count_right([True] * 3))
