"""The loss of a softmax by a sample of its words, against the exact one."""

import pytest
import torch

from elman.layers.sampled_softmax import sampled_cross_entropy
from elman.layers.softmax import Softmax


def make(vocabulary=30, rows=11, size=4):
    torch.manual_seed(0)
    h, W, b = (
        torch.randn(*shape, dtype=torch.float64) for shape in ((rows, size), (vocabulary, size), (vocabulary,))
    )
    return h, W, b, torch.randint(0, vocabulary, (rows,))


def test_with_all_words_drawn_it_is_the_exact_loss_and_gradient():
    h, W, b, targets = make()
    weights = torch.rand(len(h), dtype=torch.float64)
    found = []
    for sampled in (True, False):
        leaves = [t.clone().requires_grad_() for t in (h, W, b)]
        if sampled:
            loss = sampled_cross_entropy(*leaves, targets, 15, weights)
        else:
            nats = torch.nn.functional.cross_entropy(
                leaves[0] @ leaves[1].T + leaves[2], targets, reduction="none"
            )
            loss = (nats * weights).sum() / weights.sum()
        found.append([loss.detach(), *torch.autograd.grad(loss, leaves)])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_the_sum_over_all_words_is_estimated_without_bias():
    h, W, b, _ = make(rows=1)
    target = torch.tensor([3])  # one of those that are always there
    z = h @ W.T + b
    draws = [sampled_cross_entropy(h, W, b, target, 5) for _ in range(4000)]
    estimates = torch.stack(draws).exp() * z[0, 3].exp()
    exact = z.exp().sum()
    error = estimates.std() / len(draws) ** 0.5
    assert float(estimates.std() / exact) > 0.01  # it is a sample
    assert float((estimates.mean() - exact).abs()) < 4 * float(error)


def test_evaluation_and_small_vocabularies_are_exact():
    h, _, _, targets = make()
    for samples, training in ((5, False), (15, True)):
        softmax = Softmax(4, 30, samples=samples).double().train(training)
        torch.testing.assert_close(softmax.loss(h, targets), softmax.nll(h, targets).mean())


def test_a_softmax_begins_with_the_frequencies():
    softmax, counts = Softmax(4, 3), torch.tensor([100, 300, 600])
    softmax.begin_with(counts)
    p = softmax.log_probabilities(torch.zeros(1, 4)).exp()[0]
    assert p.tolist() == pytest.approx([0.1, 0.3, 0.6], rel=1e-2)
