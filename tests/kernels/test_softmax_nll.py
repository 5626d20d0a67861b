"""The mean loss of a softmax by C++ is that of torch in float64, and so is its gradient."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from elman.kernels import softmax_nll
from elman.kernels.softmax_nll import mean_softmax_nll


@pytest.fixture(autouse=True)
def library():
    if reason := softmax_nll.unsupported_reason():
        pytest.skip(reason)


def make(rows, count, *, weighted):
    """Logits far apart; one target is left out, and one weight is zero."""
    torch.manual_seed(1)
    z, targets = 10 * torch.randn(rows, count, dtype=torch.float64), torch.randint(0, count, (rows,))
    targets[1], weights = -100, torch.rand(rows, dtype=torch.float64)
    weights[2] = 0
    return z, targets, weights if weighted else None


def average_with_torch(z, targets, weights, smoothing):
    nats = cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)
    return nats.mean() if weights is None else (nats * weights).sum() / weights.sum()


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 100])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_and_its_derivatives_are_those_of_float64(count, smoothing, weighted):
    z, targets, weights = make(9, count, weighted=weighted)
    narrow, wide = z.float().requires_grad_(), z.requires_grad_()
    some = None if weights is None else weights.float()
    found, exact = [], []
    for results, x, mean in (
        (found, narrow, mean_softmax_nll(narrow, targets, some, smoothing=smoothing)),
        (exact, wide, average_with_torch(wide, targets, weights, smoothing)),
    ):
        (once,) = torch.autograd.grad(3 * mean, x, retain_graph=True)
        (first,) = torch.autograd.grad(mean, x, create_graph=True)
        results += [mean, once, *torch.autograd.grad((first * x.detach()).sum(), x)]
    for a, b in zip(found, exact, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5)


def test_a_target_that_is_no_column_is_refused_as_by_torch():
    z, targets, _ = make(9, 5, weighted=False)
    targets[4] = 5
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        mean_softmax_nll(z.float(), targets)


def test_without_any_weight_the_mean_is_no_number():
    z, targets, _ = make(9, 5, weighted=False)
    assert mean_softmax_nll(z.float(), targets, torch.zeros(9)).isnan()


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(softmax_nll, "_PIECE", 1)
    z, targets, weights = make(11, 50, weighted=True)
    found, x = [], z.float().requires_grad_()
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)  # noqa: B023
        mean = mean_softmax_nll(x, targets, weights.float(), smoothing=0.1)
        found.append((mean, *torch.autograd.grad(mean, x)))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
