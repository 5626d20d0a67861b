"""The likeliest of many tokens against torch's softmax and a stable sort."""

import pytest
import torch

from elman.decoding.stable_topk import stable_topk
from elman.kernels.token_ranking import _load, find_log_probability, rank_rows, rank_tokens

pytestmark = pytest.mark.skipif(_load() is None, reason="no library")
SIZES = [1, 2, 5, 16, 17, 63, 64, 65, 200, 1000, 10_007]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_a_log_probability_is_that_of_the_softmax(count, scale):
    logits = scale * torch.randn(count)
    expected = logits.double().log_softmax(0)
    for token in {0, count // 2, count - 1}:
        assert find_log_probability(logits, token) == pytest.approx(float(expected[token]), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("k", [1, 5, 33])
def test_the_best_of_rows_are_those_of_a_stable_sort(count, k):
    logits = torch.randn(4, count).mul(3).round().div(3)  # many are equal
    found = rank_rows(logits, k)
    if k > count:
        assert found is None
        return
    values, places = stable_topk(logits.double().log_softmax(-1).float(), k)
    torch.testing.assert_close(found[0], values)
    assert torch.equal(found[1], places)


def test_what_is_impossible_is_never_among_the_best():
    logits = torch.full((1, 100), -torch.inf)
    logits[0, [3, 70]] = torch.tensor([1.0, 2.0])
    values, places = rank_rows(logits, 4)
    assert places[0, :2].tolist() == [70, 3]
    assert values[0, 2:].isneginf().all()
    assert [i for _, i in rank_tokens(logits[0], [], 4)] == [70, 3]
    assert rank_tokens(logits[0], [3, 70], 4) == []
    assert rank_tokens(torch.full((9,), torch.nan), [], 4) == []


@pytest.mark.parametrize("count", SIZES[3:])
def test_barred_tokens_have_no_part_of_the_probability(count):
    logits, barred = torch.randn(count), [0, 3, 7]
    expected = logits.double().index_fill(0, torch.tensor(barred), -torch.inf).softmax(0)
    found = rank_tokens(logits, barred, 5)
    values, places = expected.float().sort(descending=True, stable=True)
    assert [i for _, i in found] == places[:5].tolist()
    torch.testing.assert_close(torch.tensor([p for p, _ in found]), values[:5])


def test_only_plain_single_precision_is_for_the_library():
    logits = torch.randn(6, 6)
    assert rank_rows(logits.double(), 2) is None
    assert rank_rows(logits.t(), 2) is None
    assert rank_tokens(logits[0], [], 65) is None
