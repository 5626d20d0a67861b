"""The masks are those of torch, drawn from the same state of its generator."""

import pytest
import torch
from torch.nn import functional

from elman.kernels import dropout as kernels
from elman.kernels.dropout import draw_mask, dropout
from elman.native.processor import is_intel

P = [0.01, 0.15, 0.3, 0.5, 0.97]


def twice(ours, torchs):
    outcomes = []
    for draw in (ours, torchs):
        torch.manual_seed(5)
        outcomes.append((draw(), torch.get_rng_state()))
    return outcomes


@pytest.mark.skipif(is_intel(), reason="Intel's library draws")
@pytest.mark.parametrize("p", P)
@pytest.mark.parametrize("shape", [(1,), (7, 1, 33), (46, 128), (0, 4)])
def test_a_mask_is_that_of_torch_and_so_is_what_is_drawn_after_it(p, shape):
    like = torch.ones(3)
    (ours, after), (theirs, expected) = twice(
        lambda: draw_mask(like, *shape, p=p), lambda: functional.dropout(like.new_ones(shape), p)
    )
    assert torch.equal(ours, theirs)
    assert ours.dtype == theirs.dtype
    assert torch.equal(after, expected)


@pytest.mark.skipif(is_intel(), reason="Intel's library draws")
@pytest.mark.parametrize("p", P)
def test_numbers_are_dropped_as_by_torch_and_so_are_their_gradients(p):
    x, d = torch.randn(20, 31, requires_grad=True), torch.randn(20, 31)
    (ours, _), (theirs, _) = twice(lambda: dropout(x, p), lambda: functional.dropout(x, p))
    assert torch.equal(ours, theirs)
    assert torch.equal(*(torch.autograd.grad(y, x, d)[0] for y in (ours, theirs)))


def test_as_many_are_dropped_as_the_rate_says():
    mask = draw_mask(torch.ones(1), 100_000, p=0.3)
    assert (mask == 0).float().mean() == pytest.approx(0.3, abs=0.005)  # three standard deviations
    assert mask.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("p", [1.0, 0.3])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_other_precisions_are_those_of_torch(dtype, p):
    (ours, _), (theirs, _) = twice(
        lambda: draw_mask(torch.ones(2, dtype=dtype), 5, 6, p=p),
        lambda: functional.dropout(torch.ones(5, 6, dtype=dtype), p),
    )
    assert torch.equal(ours, theirs)
    assert ours.dtype == dtype


def test_all_is_dropped_at_a_rate_of_one():
    assert not draw_mask(torch.ones(1), 9, p=1.0).any()
    assert not dropout(torch.ones(9), 1.0).any()


def test_a_program_that_watches_operations_sees_those_of_torch(monkeypatch):
    monkeypatch.setattr(kernels, "_draw", None)
    masks = torch.func.vmap(lambda x: dropout(x, 0.5), randomness="different")(torch.ones(4, 1000))
    assert 0.4 < (masks == 0).float().mean() < 0.6
