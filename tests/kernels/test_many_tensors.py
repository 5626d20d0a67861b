"""Operations on many tensors by C++ are those of torch in float64, however many threads share them."""

import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from elman.kernels import many_tensors
from elman.kernels.many_tensors import clip_norm, move_towards

SHAPES = [(300, 257), (), (0, 4), (17,), (2**15,), (2**15 + 1,)]


@pytest.fixture(autouse=True)
def library():
    if reason := many_tensors.unsupported_reason():
        pytest.skip(reason)


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(many_tensors, "_ALONE", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)


def draw(seed):
    torch.manual_seed(seed)
    return [torch.randn(shape) for shape in SHAPES]


@pytest.mark.parametrize("limit", [0.0, 3.0, 1e6])
def test_norms_and_clipped_gradients_are_those_of_float64(limit, threads):
    gradients = draw(0)
    exact = [torch.zeros_like(g, dtype=torch.float64).requires_grad_() for g in gradients]
    for p, g in zip(exact, gradients, strict=True):
        p.grad = g.double()
    expected = clip_grad_norm_(exact, limit or float("inf"))
    torch.testing.assert_close(clip_norm(gradients, limit).double(), expected, rtol=1e-6, atol=0)
    for g, p in zip(gradients, exact, strict=True):
        torch.testing.assert_close(g.double(), p.grad, rtol=1e-5, atol=0)


def test_means_move_as_in_float64(threads):
    means, latest = draw(0), draw(1)
    expected = [m.double() + 0.3 * (w.double() - m.double()) for m, w in zip(means, latest, strict=True)]
    move_towards(means, latest, 0.3)
    for found, exact in zip(means, expected, strict=True):
        torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-6)


def test_threads_change_no_bit_of_a_norm(monkeypatch):
    monkeypatch.setattr(many_tensors, "_ALONE", 0)
    norms = []
    for count in (1, 2, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda: count)  # noqa: B023
        norms.append(clip_norm(draw(0), 0.0))
    assert norms[0] == norms[1] == norms[2]


def test_gradients_with_gaps_are_clipped_too():
    wide = torch.randn(40, 30)
    whole, view = wide[:, ::2].clone(), wide[:, ::2]
    assert torch.isclose(clip_norm([view], 1.0), clip_norm([whole], 1.0))
    torch.testing.assert_close(view, whole)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_norm_that_is_no_number_says_so(bad):
    assert not clip_norm([torch.ones(40), torch.tensor([1.0, bad])], 1.0).isfinite()
