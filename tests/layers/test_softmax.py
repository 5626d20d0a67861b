"""Softmax over a vocabulary: chunks against PyTorch's whole, tied weights, normalisation."""

import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from elman.errors import ModelError
from elman.layers.cross_entropy import linear_cross_entropy, linear_nll
from elman.layers.embedding import UNKNOWN, Embedding
from elman.layers.softmax import AdaptiveSoftmax, Output, Softmax
from tests.layers.logits import problem, relative, whole


@given(
    count=st.integers(1, 9),
    vocabulary=st.integers(1, 40),
    chunk=st.integers(1, 45),
    smoothing=st.sampled_from([0.0, 0.1, 1.0]),
    biased=st.booleans(),
    seed=st.integers(0, 999),
)
def test_chunks_are_the_whole_in_values_and_gradients(count, vocabulary, chunk, smoothing, biased, seed):
    torch.manual_seed(seed)
    (h, W, b), targets = problem(count, 3, vocabulary)
    weights = torch.rand(count, dtype=torch.float64) * (torch.rand(count) < 0.7)  # some ignored
    leaves = (h, W, b) if biased else (h, W)
    bias = b if biased else None
    ours = linear_nll(h, W, bias, targets, smoothing=smoothing, chunk=chunk)
    theirs = whole(h, W, bias, targets, smoothing)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)
    gradients = torch.autograd.grad(ours, leaves, weights)
    for one, other in zip(gradients, torch.autograd.grad(theirs, leaves, weights), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)


def test_float32_agrees_with_float64_to_five_digits():
    leaves, targets = problem(50, 16, 3000)
    narrow = [leaf.detach().float().requires_grad_() for leaf in leaves]
    ours, theirs = linear_nll(*narrow, targets, chunk=128).mean(), whole(*leaves, targets).mean()
    assert relative(ours, theirs) < 1e-5
    gradients = torch.autograd.grad(ours, narrow), torch.autograd.grad(theirs, leaves)
    assert all(relative(one, other) < 1e-5 for one, other in zip(*gradients, strict=True))


def test_gradients_of_chunks_are_those_of_finite_differences():
    leaves, targets = problem(4, 3, 7)
    assert torch.autograd.gradcheck(lambda *x: linear_nll(*x, targets, chunk=3), leaves)


@pytest.mark.parametrize("vocabulary", [30, 1500])  # below and above where chunks begin
def test_the_loss_is_the_weighted_mean(vocabulary):
    leaves, targets = problem(6, 4, vocabulary)
    weights = torch.tensor([1.0, 0, 2, 0.5, 0, 3])
    loss = linear_cross_entropy(*leaves, targets, weights=weights)
    expected = (weights * whole(*leaves, targets)).sum() / 6.5
    torch.testing.assert_close(loss, expected)


def test_ignored_positions_have_no_gradient_and_no_say():
    leaves, targets = problem(6, 4, 1500)
    mask = torch.tensor([True, True, False, True, False, False])
    loss = linear_cross_entropy(*leaves, targets, weights=mask)
    other = targets.where(mask, 0)
    assert loss == linear_cross_entropy(*leaves, other, weights=mask)
    (dh,) = torch.autograd.grad(loss, leaves[0])
    assert not dh[~mask].any()
    assert dh[mask].any(1).all()


def test_extreme_logits_stay_finite():
    h = torch.tensor([[1e4], [-1e4]], requires_grad=True)
    W = torch.tensor([[1.0], [0.0], [-1.0]], requires_grad=True)
    nats = linear_nll(h, W, None, torch.tensor([0, 0]), chunk=1)
    assert nats.tolist() == [0, 2e4]
    assert torch.isfinite(torch.cat(torch.autograd.grad(nats.sum(), (h, W)))).all()


@pytest.mark.parametrize("size", [5, 3])
@pytest.mark.parametrize("give", [lambda e: e, lambda e: e.E.weight])
def test_tied_rows_are_the_embedding_and_gradients_add_up(size, give):
    embed = Embedding(8, 5)
    softmax = Softmax(size, 8, give(embed))
    assert softmax.W.data_ptr() == embed.E.weight.data_ptr()
    ids, targets = torch.tensor([[1, 2, 3]]), torch.tensor([[2, 3, 4]])

    def gradient(x_part, y_part):
        embed.zero_grad()
        xs, rows = embed(ids), softmax.W
        x = (xs if x_part else xs.detach())[..., :size]
        z = F.linear(softmax.P(x), rows if y_part else rows.detach(), softmax.b)
        F.cross_entropy(z[0], targets[0]).backward()
        return embed.E.weight.grad.clone()

    expected = gradient(True, False) + gradient(False, True)
    embed.zero_grad()
    softmax.loss(embed(ids)[..., :size], targets).backward()
    torch.testing.assert_close(embed.E.weight.grad, expected)


def test_tied_rows_are_stored_and_counted_once():
    embed = Embedding(8, 5)
    assert Softmax(5, 8, embed).state_dict().keys() == {"b"}
    assert Softmax(3, 8, embed).state_dict().keys() == {"b", "P.weight"}
    assert Softmax(5, 8).state_dict().keys() == {"b", "own"}


def test_a_tie_survives_a_copy_and_a_change_of_precision():
    from copy import deepcopy

    net = torch.nn.ModuleDict({"embed": Embedding(8, 5)})
    net["softmax"] = Softmax(5, 8, net["embed"])
    other = deepcopy(net).double()
    assert other["softmax"].W is other["embed"].E.weight
    assert other["softmax"].W.dtype == torch.float64


def test_another_vocabulary_cannot_be_tied():
    with pytest.raises(ModelError, match="an embedding of 8 tokens cannot be tied"):
        Softmax(5, 9, Embedding(8, 5))


@pytest.mark.parametrize("make", [Softmax, lambda d, v: AdaptiveSoftmax(d, v, [5, 9], shrink=2)])
def test_probabilities_sum_to_one_and_price_the_targets(make):
    output, h, targets = make(6, 12), torch.randn(2, 3, 6), torch.randint(12, (2, 3))
    assert isinstance(output, Output)
    logs = output.log_probabilities(h)
    torch.testing.assert_close(logs.exp().sum(-1), torch.ones(2, 3))
    torch.testing.assert_close(output.logits(h).log_softmax(-1), logs)
    nats = -logs.gather(-1, targets[..., None])[..., 0]
    torch.testing.assert_close(output.nll(h, targets), nats)
    torch.testing.assert_close(output.loss(h, targets), nats.mean())
    mask = torch.tensor([[True, False, True], [False, False, True]])
    torch.testing.assert_close(output.loss(h, targets, mask), nats[mask].mean())


def test_labels_are_smooth_in_training_only():
    softmax, h, targets = Softmax(6, 12, smoothing=0.2), torch.randn(3, 6), torch.tensor([1, 5, 7])
    smooth = F.cross_entropy(softmax.logits(h), targets, label_smoothing=0.2)
    torch.testing.assert_close(softmax.loss(h, targets), smooth)
    torch.testing.assert_close(softmax.eval().loss(h, targets), F.cross_entropy(softmax.logits(h), targets))


MEMORY = """
import resource, torch
from elman.layers.cross_entropy import linear_cross_entropy
torch.set_num_threads(1)
h, W = torch.randn(1024, 16).requires_grad_(), torch.randn(33278, 16).requires_grad_()
y = torch.randint(33278, (1024,))
linear_cross_entropy(h[:8], W, None, y[:8]).backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
linear_cross_entropy(h, W, None, y).backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of a process as Linux counts")
def test_the_loss_never_holds_all_logits():
    run = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    logits = 1024 * 33278 * 4 / 1024  # KiB
    assert int(run.stdout) < logits / 4


@torch.no_grad()
def test_further_tokens_are_together_as_likely_as_an_unknown_one():
    small, large = Softmax(4, 5), Softmax(4, 8)
    large.W[:5], large.b[:5] = small.W, small.b.normal_()
    large.grow_from(small)
    h = torch.randn(3, 4)
    scores = large.logits(h).exp()
    torch.testing.assert_close(scores[:, :5], small.logits(h).exp())
    torch.testing.assert_close(scores[:, 5:].sum(1), scores[:, UNKNOWN])
    torch.testing.assert_close(scores[:, 5], scores[:, 7])
    assert large.features(h) is h


@pytest.mark.parametrize("vocabulary", [5, 3000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_no_token_costs_nothing(vocabulary, dtype):
    h, W = (torch.randn(n, 4, dtype=dtype, requires_grad=True) for n in (0, vocabulary))
    costs = linear_nll(h, W, None, torch.zeros(0, dtype=torch.long))
    assert costs.shape == (0,)
    costs.sum().backward()
    assert h.grad.shape == (0, 4)
    assert not W.grad.any()
