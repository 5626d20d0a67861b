"""The likeliest tokens of one distribution."""

import pytest
import torch

from elman.generation import likeliest as module
from elman.generation.likeliest import likeliest


def test_probabilities_are_those_of_the_softmax_among_what_is_not_barred():
    torch.manual_seed(0)
    logits = torch.randn(300)
    expected = logits.double().index_fill(0, torch.tensor([0, 7]), -torch.inf).softmax(0)
    found = likeliest(logits, [0, 7], 5)
    values, ids = expected.topk(5)
    assert [i for _, i in found] == ids.tolist()
    torch.testing.assert_close(torch.tensor([p for p, _ in found]).double(), values, rtol=1e-5, atol=0)


def test_of_equal_ones_the_lower_token_comes_first():
    logits = torch.tensor([0.0, 2.0, 1.0, 2.0, 1.0, 1.0])
    assert [i for _, i in likeliest(logits, [], 4)] == [1, 3, 2, 4]


def test_a_barred_token_takes_nothing_from_the_others():
    ((share, token),) = likeliest(torch.tensor([500.0, 1.0, -torch.inf]), [0], 3)
    assert (share, token) == (1.0, 1)
    assert likeliest(torch.full((3,), torch.nan), [0], 2) == []


@pytest.mark.parametrize(("precision", "error"), [(torch.float64, 1e-12), (torch.bfloat16, 1e-6)])
def test_without_a_kernel_the_numbers_are_the_same(monkeypatch, precision, error):
    monkeypatch.setattr(module, "rank_tokens", lambda *given: None)
    logits = torch.randn(50, generator=torch.Generator().manual_seed(0)).to(precision)
    logits[3] = logits[7] = 5.0
    expected = logits.double().index_fill(0, torch.tensor([4]), -torch.inf).softmax(0)
    for k in (1, 2, 49, 50, 60):
        found = likeliest(logits, [4], k)
        assert len(found) == min(k, 49)
        assert [i for _, i in found] == expected.sort(descending=True, stable=True).indices[
            : len(found)
        ].tolist()
        assert [p for p, _ in found] == pytest.approx([expected[i].item() for _, i in found], rel=error)
