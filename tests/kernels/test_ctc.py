"""CTC by C++ costs what torch's costs in float64, and so do its gradients."""

import pytest
import torch
from torch.nn.functional import ctc_loss

from elman.kernels import ctc
from elman.kernels.ctc import ctc_nll

SIZES = [(5, 6, 11, 2, 7), (4, 3, 43, 1, 9), (7, 12, 100, 3, 20), (2, 1, 3, 2, 0), (3, 5, 17, 2, 4)]
# rows, positions, vocabulary, slots and the longest target


@pytest.fixture(autouse=True)
def library():
    if reason := ctc.unsupported_reason():
        pytest.skip(reason)


def make(rows, positions, vocabulary, slots, longest):
    """Logits, targets with repetitions, and lengths of both; some sources are too short."""
    torch.manual_seed(1)
    z = 3 * torch.randn(rows, positions, vocabulary * slots, dtype=torch.float64)
    targets = torch.randint(1, min(vocabulary, 4), (rows, longest))
    lengths, target_lengths = torch.randint(0, positions + 1, (rows,)), torch.randint(0, longest + 1, (rows,))
    lengths[0] = positions
    return z, targets, lengths, target_lengths


def cost_with_torch(z, targets, lengths, target_lengths, *, slots, zero_infinity):
    each = z.view(*z.shape[:2], -1, slots).transpose(-1, -2).flatten(1, 2)
    log_probs = each.log_softmax(-1).transpose(0, 1)
    options = {"reduction": "none", "zero_infinity": zero_infinity}
    return ctc_loss(log_probs, targets, slots * lengths, target_lengths, **options)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_costs_are_those_of_float64(sizes, zero_infinity):
    z, *counts = make(*sizes)
    found = ctc_nll(z.float(), *counts, slots=sizes[3], blank=0, zero_infinity=zero_infinity)
    exact = cost_with_torch(z, *counts, slots=sizes[3], zero_infinity=zero_infinity)
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_are_those_of_float64(sizes):
    z, *counts = make(*sizes)
    d, narrow, wide = torch.randn(len(z)), z.float().requires_grad_(), z.requires_grad_()
    cost = ctc_nll(narrow, *counts, slots=sizes[3], blank=0, zero_infinity=True)
    exact = cost_with_torch(wide, *counts, slots=sizes[3], zero_infinity=True)
    (found,), (expected,) = torch.autograd.grad(cost, narrow, d), torch.autograd.grad(exact, wide, d.double())
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(ctc, "_PIECE", 1)
    (z, *counts), found = make(7, 6, 20, 2, 5), []
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)  # noqa: B023
        narrow = z.float().requires_grad_()
        cost = ctc_nll(narrow, *counts, slots=2, blank=0, zero_infinity=True)
        found.append((cost, *torch.autograd.grad(cost.sum(), narrow)))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_a_logit_that_is_no_number_makes_its_row_none():
    z, targets, lengths, target_lengths = make(3, 5, 17, 2, 4)
    lengths[:], target_lengths[:] = 5, 2
    z[1, 2, 4] = torch.nan
    cost = ctc_nll(z.float(), targets, lengths, target_lengths, slots=2, blank=0, zero_infinity=True)
    assert cost.isnan().tolist() == [False, True, False]
