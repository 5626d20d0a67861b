"""Words from their characters, against torch's convolution and against one word at a time."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elman.layers.word_layer import CHARACTERS, CharacterCNN, CharacterRNN

ALPHABET, SIZE, HIDDEN = 9, 3, 4
WORD = st.lists(st.integers(1, ALPHABET - 1), min_size=1, max_size=7)
BOTH = pytest.mark.parametrize("kind", CHARACTERS)


def filled(words: list[list[int]], more: int = 0) -> torch.Tensor:
    longest = max(map(len, words)) + more
    return torch.tensor([word + [0] * (longest - len(word)) for word in words])


def made(kind: str) -> CharacterCNN | CharacterRNN:
    torch.manual_seed(0)
    return CHARACTERS[kind](ALPHABET, SIZE, HIDDEN)


@given(words=st.lists(WORD, min_size=1, max_size=5))
def test_the_cnn_is_the_maximum_of_a_convolution_of_each_word_alone(words):
    layer = made("cnn")
    convolution = nn.Conv1d(SIZE, HIDDEN, 3, padding=1)
    convolution.weight.data = layer.W.weight.data.view(HIDDEN, SIZE, 3)
    convolution.bias.data = layer.W.bias.data
    for got, word in zip(layer(filled(words)), words, strict=True):
        cs = layer.embed.E.weight[torch.tensor(word)]
        expected = convolution(cs.T[None])[0].amax(1)
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)


@given(words=st.lists(WORD, min_size=1, max_size=5))
def test_the_rnn_is_both_ends_of_each_word_alone(words):
    layer = made("lstm")
    for got, word in zip(layer(filled(words)), words, strict=True):
        cs = layer.embed(torch.tensor([word]))
        ys, _ = layer.read(cs, torch.ones(1, len(word), dtype=torch.bool))
        expected = torch.cat([ys[0, -1, :HIDDEN], ys[0, 0, HIDDEN:]])
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)


@BOTH
@given(words=st.lists(WORD, min_size=1, max_size=5), more=st.integers(1, 3))
def test_padding_is_inert(kind, words, more):
    layer = made(kind)
    longer = layer(filled([*words, []], more))[: len(words)]
    torch.testing.assert_close(longer, layer(filled(words)), rtol=0, atol=1e-6)


@BOTH
@pytest.mark.parametrize("shape", [(2, 3), (2, 0), (0, 3), (0, 0)])
def test_words_without_characters_are_zero(kind, shape):
    layer = made(kind)
    ys = layer(torch.zeros(shape, dtype=torch.long))
    assert ys.shape == (shape[0], layer.output_size)
    assert not ys.any()


@BOTH
def test_a_word_of_padding_leaves_gradients_finite(kind):
    layer = made(kind)
    layer(filled([[3, 4], []])).square().sum().backward()
    gradients = [p.grad for p in layer.parameters()]
    assert all(torch.isfinite(g).all() for g in gradients)
    assert not layer.embed.E.weight.grad[0].any()
    assert layer.embed.E.weight.grad[[3, 4]].any()


@BOTH
def test_the_order_of_characters_matters(kind):
    layer = made(kind)
    one, other = layer(filled([[1, 2, 3], [3, 2, 1]]))
    assert not torch.allclose(one, other)
