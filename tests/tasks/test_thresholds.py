"""Thresholds against all possible ones."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.tasks.thresholds import ENOUGH, FLOOR, choose_thresholds, find_threshold


def f1(p: list[float], right: list[bool], threshold: float) -> float:
    given_ = [chance >= threshold for chance in p]
    both = sum(g and r for g, r in zip(given_, right, strict=True))
    return 2 * both / max(1, sum(given_) + sum(right))


CHANCES = st.sampled_from([0.02, 0.05, 0.15, 0.2, 0.4, 0.45, 0.6, 0.8, 0.95])


@given(texts=st.lists(st.tuples(CHANCES, st.booleans()), min_size=1, max_size=15))
def test_no_threshold_above_the_floor_has_a_better_f1(texts):
    p, right = map(list, zip(*texts, strict=True))
    found = find_threshold(torch.tensor(p), torch.tensor(right))
    assert FLOOR <= found <= 1
    best = max(f1(p, right, t) for t in [FLOOR, *(x for x in p if x >= FLOOR)])
    assert f1(p, right, found) == pytest.approx(best)


def test_a_rare_label_that_is_never_probable_gets_the_floor():
    assert find_threshold(torch.tensor([0.01, 0.02]), torch.tensor([True, False])) == FLOOR


def test_a_threshold_stands_between_two_probabilities_even_where_all_that_is_given_is_wrong():
    p, right = torch.tensor([0.5, 0.5, 0.02]), torch.tensor([False, False, True])
    assert find_threshold(p, right) == pytest.approx(0.26)
    assert find_threshold(p, ~right) == pytest.approx(0.26)
    assert find_threshold(p, right & False) == 0.5


def test_labels_with_few_examples_share_the_threshold_of_all():
    p, right = torch.full((40, 2), 0.1), torch.zeros(40, 2, dtype=torch.bool)
    p[:20, 0], right[:20, 0] = 0.9, True
    p[: ENOUGH - 1, 1], right[: ENOUGH - 1, 1] = 0.3, True
    common, own = choose_thresholds(p, right, ["often", "seldom"])
    assert own == {"often": pytest.approx(0.5)}
    assert common == pytest.approx(0.2)


@given(seed=st.integers(0, 1000))
def test_thresholds_of_their_own_never_make_micro_f1_worse(seed):
    """From the most frequent label on, each has its own where micro-F1 does not fall by it."""
    torch.manual_seed(seed)
    right = torch.rand(60, 4) < torch.tensor([0.25, 0.6, 0.05, 0.4])
    p = torch.rand(60, 4).mul(0.7).add(0.2 * right).double()
    names = ["a", "b", "c", "d"]
    common, own = choose_thresholds(p, right, names)

    def micro_f1(cuts: list[float]) -> Fraction:
        given_ = p >= torch.tensor(cuts).double()
        return Fraction(2 * int((given_ & right).sum()), int(given_.sum() + right.sum()))

    cuts = [common] * 4
    for i in right.sum(0).argsort(descending=True, stable=True).tolist():
        if right[:, i].sum() >= ENOUGH:
            other = [*cuts[:i], find_threshold(p[:, i], right[:, i]), *cuts[i + 1 :]]
            cuts = other if micro_f1(other) >= micro_f1(cuts) else cuts
    assert [own.get(name, common) for name in names] == cuts
    assert micro_f1(cuts) >= micro_f1([common] * 4)
