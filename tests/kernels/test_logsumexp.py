"""The sum of a softmax by C++ is that of torch in float64, and so are its gradients."""

import pytest
import torch

from elman.kernels import logsumexp
from elman.kernels.logsumexp import logsumexp_beside


@pytest.fixture(autouse=True)
def library():
    if reason := logsumexp.unsupported_reason():
        pytest.skip(reason)
    torch.manual_seed(0)


def make(rows, count, dtype=torch.float32):
    """Logits far apart; every third row leaves none out."""
    torch.manual_seed(1)
    z, own = 30 * torch.randn(rows, count, dtype=torch.float64), 30 * torch.randn(rows, dtype=torch.float64)
    without = torch.randint(0, count, (rows,)).where(torch.arange(rows) % 3 > 0, count)
    return z.to(dtype).requires_grad_(), own.to(dtype).requires_grad_(), without


def differentiate(z, own, without, *, twice=False):
    """The sums, and their gradients by weights; of ``twice`` those of the squared gradients, too."""
    d = torch.randn(len(own), dtype=torch.float64).to(own.dtype)
    l = logsumexp_beside(z.clone(), own, without)
    first = torch.autograd.grad(l, (z, own), d, create_graph=twice)
    more = torch.autograd.grad(sum(g.square().sum() for g in first), (z, own)) if twice else ()
    return [l.detach(), *first, *more]


@pytest.mark.parametrize("count", [2, 15, 16, 17, 100])
@pytest.mark.parametrize("twice", [False, True])
def test_sums_and_gradients_are_those_of_float64(count, twice):
    found, exact = [], []
    for each, dtype in ((found, torch.float32), (exact, torch.float64)):
        given = make(9, count, dtype)
        torch.manual_seed(2)
        each += differentiate(*given, twice=twice)
    for a, b in zip(found, exact, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5)


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(logsumexp, "_PIECE", 1)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)  # noqa: B023
        torch.manual_seed(2)
        found.append(differentiate(*make(11, 50)))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


def test_what_is_no_number_stays_so():
    z, own, without = make(4, 20)
    z.data[0, 3] = own.data[1] = torch.nan
    without[0] = 20
    assert logsumexp_beside(z.detach(), own.detach(), without).isnan().tolist() == [True, True, False, False]
