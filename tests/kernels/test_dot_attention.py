"""Attention by C++ is that of torch in float64, and so are its gradients."""

import pytest
import torch

from elman.kernels import dot_attention
from elman.kernels.dot_attention import attend_by_dots, weigh_values
from elman.layers.attention import SCORES, Attention

SIZES = [(3, 5, 7, 20, 33), (2, 1, 1, 1, 1), (4, 13, 9, 64, 128), (2, 7, 3, 17, 100), (1, 3, 0, 4, 5)]
# rows, steps, positions, and the features of keys and of values


@pytest.fixture(autouse=True)
def library():
    if reason := dot_attention.unsupported_reason():
        pytest.skip(reason)
    torch.manual_seed(0)


def make(rows, steps, positions, depth, width, dtype=torch.float32):
    """A query, keys and values, time first in memory as layers give them; all of the first row is masked."""
    torch.manual_seed(1)
    given = []
    for size, features in ((steps, depth), (positions, depth), (positions, width)):
        each = torch.randn(size, rows, features, dtype=torch.float64).to(dtype).transpose(0, 1)
        given.append(each.requires_grad_())
    mask = torch.rand(rows, positions) < 0.7
    mask[:1] &= rows == 1
    return given, mask


def differentiate(attend, given, mask, *, twice=False):
    """Contexts, weights and their gradients; of ``twice`` those of the squared gradients, too."""
    torch.manual_seed(2)
    found = attend(*given, mask, 0.1)
    d = [torch.randn(t.shape, dtype=torch.float64).to(t.dtype) for t in found]
    first = torch.autograd.grad(found, given, d, create_graph=twice)
    more = torch.autograd.grad(sum(g.square().sum() for g in first), given) if twice else ()
    return [*found, *first, *more]


def attend_with_torch(query, keys, values, mask, scale):
    return weigh_values(torch.bmm(query, keys.transpose(1, 2)) * scale, values, mask)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("twice", [False, True])
def test_contexts_weights_and_gradients_are_those_of_float64(sizes, twice):
    found = differentiate(attend_by_dots, *make(*sizes), twice=twice)
    exact = differentiate(attend_with_torch, *make(*sizes, dtype=torch.float64), twice=twice)
    for a, b in zip(found, exact, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-4)


def test_the_weights_alone_may_have_a_gradient():
    found, exact = (make(3, 5, 7, 20, 33, dtype) for dtype in (torch.float32, torch.float64))
    costs = attend_by_dots(*found[0], found[1], 0.1)[1], attend_with_torch(*exact[0], exact[1], 0.1)[1]
    ours, theirs = (
        torch.autograd.grad(weights.square().sum(), given[:2])
        for weights, (given, _) in zip(costs, (found, exact), strict=True)
    )
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-4, atol=1e-5)


def test_what_stands_at_the_padding_has_no_weight_and_no_gradient():
    (query, keys, values), mask = make(4, 5, 6, 8, 8)
    context, weights, _, d_keys, d_values = differentiate(attend_by_dots, [query, keys, values], mask)
    assert not weights[~mask[:, None].expand_as(weights)].any()
    assert not d_keys[~mask].any()
    assert not d_values[~mask].any()
    assert not context[0].any()


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(dot_attention, "_PIECE", 1)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda: threads)  # noqa: B023
        found.append(differentiate(attend_by_dots, *make(7, 4, 5, 20, 40)))
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("name", SCORES)
def test_a_layer_in_float32_attends_as_in_float64(name):
    layer, (given, mask) = Attention(SCORES[name](32, 32)), make(3, 4, 5, 32, 32)
    query, _, values = (t.detach() for t in given)
    found = layer(query, layer.remember(values, mask))
    exact = layer.double()(query.double(), layer.remember(values.double(), mask))
    for a, b in zip(found, exact, strict=True):
        torch.testing.assert_close(a.double(), b.double(), rtol=1e-4, atol=1e-5)
