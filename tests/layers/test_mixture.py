"""A mixture of softmaxes against its formula, written slowly in numpy and whole in torch."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ModelError
from elman.layers.mixture import Mixture, mixture_nll
from elman.layers.softmax import Output
from tests.layers.logits import mixture, mixture_costs


def slowly(made: Mixture, h: np.ndarray) -> np.ndarray:
    """p of every token after one state."""
    weights = {n: p.detach().numpy() for n, p in made.named_parameters()}
    W = made.softmax.W.detach().numpy()
    scores = weights["M.weight"] @ h
    shares = np.exp(scores) / np.exp(scores).sum()
    p = np.zeros(len(W))
    width = W.shape[1]
    for k, share in enumerate(shares):
        part = slice(k * width, (k + 1) * width)
        v = np.tanh(weights["V.weight"][part] @ h + weights["V.bias"][part])
        z = np.exp(W @ v + weights["softmax.b"])
        p += share * z / z.sum()
    return p


@pytest.mark.parametrize("width", [None, 4], ids=["own rows", "tied"])
@pytest.mark.parametrize("count", [2, 5])
def test_it_is_the_sum_of_weighted_softmaxes(width, count):
    made = mixture(width=width, count=count).eval()
    hs, targets = torch.randn(2, 3, 5, dtype=torch.float64), torch.randint(7, (2, 3))
    expected = np.array([[slowly(made, h) for h in row] for row in hs.numpy()])
    torch.testing.assert_close(made.log_probabilities(hs).exp(), torch.tensor(expected))
    torch.testing.assert_close(made.logits(hs).softmax(-1), torch.tensor(expected))
    costs = -np.log(np.take_along_axis(expected, targets.numpy()[..., None], -1)[..., 0])
    torch.testing.assert_close(made.nll(hs, targets), torch.tensor(costs))
    torch.testing.assert_close(made.loss(hs, targets), torch.tensor(costs.mean()))
    assert isinstance(made, Output)


@pytest.mark.parametrize("vocabulary", [7, 1100], ids=["whole", "in chunks"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_and_its_gradients_are_those_of_all_logits(vocabulary, weighted):
    made = mixture(vocabulary=vocabulary, width=4)
    h = torch.randn(9, 5, dtype=torch.float64, requires_grad=True)
    targets = torch.randint(vocabulary, (9,))
    weights = torch.tensor([1.0, 0, 2] * 3) if weighted else None
    expected = torch.tensor([1.0] * 9) if weights is None else weights
    expected = (mixture_costs(made, h, targets) * expected).sum() / expected.sum()
    loss = made.loss(h, targets, weights)
    torch.testing.assert_close(loss, expected)
    leaves = [h, made.softmax.W, *made.parameters()]
    found = torch.autograd.grad(loss, leaves)
    for one, other in zip(found, torch.autograd.grad(expected, leaves), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


def test_logits_are_not_kept():
    made = mixture(vocabulary=3000, width=4)
    h, targets = torch.randn(50, 5, dtype=torch.float64), torch.randint(3000, (50,))
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.numel()) or t, lambda t: t):
        made.loss(h, targets)
    assert max(kept) == made.softmax.W.numel() < 50 * 3000


@given(st.integers(1, 4), st.integers(2, 6), st.integers(1, 30), st.integers(0, 99))
def test_probabilities_sum_to_one(rows, count, vocabulary, seed):
    torch.manual_seed(seed)
    made = mixture(vocabulary=vocabulary, count=count)
    p = made.log_probabilities(10 * torch.randn(rows, 5, dtype=torch.float64)).exp()
    torch.testing.assert_close(p.sum(-1), torch.ones(rows, dtype=torch.float64))


def test_more_than_rank_can_be_said():
    """W has one column: a softmax's matrix of logits has rank 1, and 2 with its normaliser and bias."""
    made = mixture(size=6, vocabulary=9, width=1, count=4)
    torch.nn.init.zeros_(made.softmax.b)
    said = made.log_probabilities(3 * torch.randn(9, 6, dtype=torch.float64))
    one = made.softmax.log_probabilities(torch.randn(9, 1, dtype=torch.float64))
    assert torch.linalg.matrix_rank(one, rtol=1e-9) == 2
    assert torch.linalg.matrix_rank(said, rtol=1e-9) > 4


def test_extreme_costs_stay_finite():
    v = torch.tensor([[[1e4], [-1e4]]], requires_grad=True)
    W, b = torch.tensor([[1.0], [-1.0]], requires_grad=True), torch.zeros(2)
    nats = mixture_nll(v, torch.tensor([[-1e3, 0.0]]), W, b, torch.tensor([0]))
    assert nats.item() == pytest.approx(1e3)
    assert all(torch.isfinite(g).all() for g in torch.autograd.grad(nats.sum(), (v, W)))


def test_vectors_are_dropped_in_training_only():
    made = mixture(size=50, count=4, dropout=0.5)
    h = torch.randn(3, 50, dtype=torch.float64)
    assert 0.3 < (made.train().vectors(h) == 0).double().mean() < 0.7
    assert (made.eval().vectors(h) != 0).all()


def test_one_softmax_is_no_mixture():
    with pytest.raises(ModelError, match="at least 2 softmaxes, not 1"):
        Mixture(3, 4, count=1)
