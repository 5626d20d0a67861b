"""Filters of characters by C++ answer as the formula does in float64, and so do their gradients."""

import pytest
import torch
from torch.nn.functional import embedding

from elman.kernels import character_filters
from elman.kernels.character_filters import filter_characters, filter_features
from elman.layers import CharacterCNN


@pytest.fixture(autouse=True)
def library():
    if reason := character_filters.unsupported_reason():
        pytest.skip(reason)
    torch.manual_seed(0)


def make_words(count, length, alphabet):
    """Words of all lengths, the first without a character; one with padding in its middle."""
    lengths = torch.randint(0, length + 1, (count,))
    lengths[0] = 0
    words = torch.randint(1, alphabet, (count, length)) * (torch.arange(length) < lengths[:, None])
    words[-1, length // 2] = 0
    return words


def make_weights(alphabet, features, filters, places, dtype=torch.float32):
    torch.manual_seed(1)
    E = torch.randn(alphabet, features, dtype=torch.float64)
    E[0] = 0
    W = torch.randn(filters, places * features, dtype=torch.float64)
    return [t.to(dtype).requires_grad_() for t in (E, W, torch.randn(filters, dtype=torch.float64))]


def close(found, exact):
    return (found - exact).abs().max() <= 2e-6 * exact.abs().max()


@pytest.mark.parametrize("filters", [1, 7, 16, 50])
@pytest.mark.parametrize(("length", "places"), [(1, 3), (9, 3), (6, 5)], ids=str)
def test_answers_and_gradients_are_those_of_float64(filters, length, places):
    words = make_words(40, length, 20)
    weights, exact = (make_weights(20, 6, filters, places, t) for t in (torch.float32, torch.float64))
    ys, ys_exact = (
        filter_characters(words, *weights),
        filter_features(words, embedding(words, exact[0], 0), *exact[1:]),
    )
    assert close(ys, ys_exact)
    assert not ys[0].any()
    seed = torch.randn_like(ys)
    ys.backward(seed)
    ys_exact.backward(seed.double())
    assert all(close(w.grad, e.grad) for w, e in zip(weights, exact, strict=True))
    assert not weights[0].grad[0].any()  # of the padding


def test_what_is_no_number_stays_so():
    E, W, b = make_weights(20, 6, 7, 3)
    E.data[3] = torch.nan
    assert filter_characters(torch.tensor([[3, 4], [4, 3], [5, 6]]), E, W, b).isnan().any(1).tolist() == [
        True,
        True,
        False,
    ]


def test_second_derivatives_are_those_of_the_formula():
    words, weights = make_words(12, 5, 20), make_weights(20, 6, 7, 3)
    found = []
    for ys in (
        filter_characters(words, *weights),
        filter_features(words, embedding(words, weights[0], 0), *weights[1:]),
    ):
        first = torch.autograd.grad(ys.square().sum(), weights, create_graph=True)
        found.append([*first, *torch.autograd.grad(sum(g.square().sum() for g in first), weights)])
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-3) for a, b in zip(*found, strict=True))


def test_a_layer_whose_characters_are_watched_shows_them():
    layer, words, seen = CharacterCNN(20, 6, 7), make_words(12, 5, 20), []
    expected = layer(words)
    layer.embed.register_forward_hook(lambda _, given, found: seen.append(found))
    assert torch.allclose(layer(words), expected, atol=1e-6)
    assert seen[0].shape == (12, 5, 6)
