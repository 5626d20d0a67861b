"""Adaptive softmax against the formula and against PyTorch's module."""

import pytest
import torch

from elman.errors import ModelError
from elman.layers.softmax import AdaptiveSoftmax


def test_a_rare_word_is_its_cluster_times_itself_in_it():
    """p(w) = p(c) p(w | c), from the weights, one word at a time."""
    output, h = AdaptiveSoftmax(8, 10, [4, 7], shrink=2), torch.randn(8)
    p, clusters = output.log_probabilities(h[None])[0].exp(), output.clusters
    head = (clusters.head.weight @ h).softmax(0)
    torch.testing.assert_close(p[:4], head[:4])
    for k, (start, stop) in enumerate([(4, 7), (7, 10)]):
        small, rows = (layer.weight for layer in clusters.tail[k])
        assert len(small) == 8 // 2 ** (k + 1)
        torch.testing.assert_close(p[start:stop], head[4 + k] * (rows @ small @ h).softmax(0))


def test_loss_and_gradients_are_those_of_all_probabilities():
    output = AdaptiveSoftmax(8, 30, [10, 20], shrink=2).double()
    h = torch.randn(9, 8, dtype=torch.float64, requires_grad=True)
    targets, weights = torch.randint(30, (9,)), torch.rand(9, dtype=torch.float64)
    leaves = (h, *output.parameters())
    short = output.loss(h, targets, weights)
    nats = -output.log_probabilities(h).gather(1, targets[:, None])[:, 0]
    long = (nats * weights).sum() / weights.sum()
    torch.testing.assert_close(short, long)
    gradients = torch.autograd.grad(short, leaves), torch.autograd.grad(long, leaves)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_it_is_the_same_under_autocast():
    output, h = AdaptiveSoftmax(8, 30, [10, 20], shrink=2), torch.randn(5, 8)
    targets = torch.tensor([0, 9, 10, 25, 29])
    with torch.autocast("cpu", torch.bfloat16):
        loss = output.loss(h.bfloat16(), targets)
        assert torch.isfinite(output.log_probabilities(h)).all()
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, output.loss(h.bfloat16().float(), targets))


@pytest.mark.parametrize("cutoffs", [[], [0, 3], [5, 3], [3, 3], [10]])
def test_cutoffs_that_cut_nothing_are_refused(cutoffs):
    with pytest.raises(ModelError, match="cutoffs must rise"):
        AdaptiveSoftmax(8, 10, cutoffs)


def test_rows_cannot_shrink_to_nothing():
    with pytest.raises(ModelError, match="cannot shrink 2 times by 4"):
        AdaptiveSoftmax(8, 10, [3, 5])


def test_one_cluster_is_enough_and_none_are_too_few():
    p = AdaptiveSoftmax(8, 20, [5]).log_probabilities(torch.randn(3, 8)).exp()
    torch.testing.assert_close(p.sum(1), torch.ones(3))
    for cutoffs in ([], [20], [0, 5], [7, 5]):
        with pytest.raises(ModelError, match="cutoffs must rise and lie between 1 and 19"):
            AdaptiveSoftmax(8, 20, cutoffs)
