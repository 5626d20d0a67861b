"""A convolutional encoder by hand, how far it sees, and what padding does to it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ModelError
from elman.layers.stateless_encoders import ConvolutionalEncoder, positions

lengths = st.lists(st.integers(0, 6), min_size=1, max_size=4)


def encoder(layers: int = 2, kernel: int = 3) -> ConvolutionalEncoder:
    return ConvolutionalEncoder(3, 4, layers, kernel).double()


def made(sizes: list[int], padding: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(sizes) + padding
    mask = torch.arange(longest)[None] < torch.tensor(sizes)[:, None]
    return torch.randn(len(sizes), longest, 3, dtype=torch.float64), mask


def by_hand(encode: ConvolutionalEncoder, xs: np.ndarray) -> np.ndarray:
    """Of one row without padding, position by position."""
    weights = {name: value.detach().numpy() for name, value in encode.state_dict().items()}
    ys = xs @ weights["read.0.weight"].T + weights["read.0.bias"]
    ys = (ys - ys.mean(-1, keepdims=True)) / np.sqrt(ys.var(-1, keepdims=True) + 1e-5)
    ys = ys * weights["read.1.weight"] + weights["read.1.bias"]
    ys = ys + positions(len(xs), 4, torch.zeros(0, dtype=torch.float64)).numpy()
    for n in range(len(encode.layers)):
        W, b = weights[f"layers.{n}.weight"], weights[f"layers.{n}.bias"]
        around = W.shape[2] // 2
        new = np.zeros_like(ys)
        for i in range(len(ys)):
            both = b.copy()
            for k in range(-around, around + 1):
                if 0 <= i + k < len(ys):
                    both += W[:, :, k + around] @ ys[i + k]
            new[i] = (ys[i] + both[:4] / (1 + np.exp(-both[4:]))) * math.sqrt(0.5)
        ys = new
    return ys


@pytest.mark.parametrize("kernel", [1, 3, 5])
@given(sizes=lengths, layers=st.integers(0, 3))
def test_each_row_is_convolved_as_by_hand_and_zero_at_the_padding(kernel, sizes, layers):
    encode, (xs, mask) = encoder(layers, kernel), made(sizes)
    ys = encode(xs, mask)
    assert ys.shape == (*mask.shape, encode.output_size)
    assert not ys[~mask].any()
    for row, n, got in zip(xs.numpy(), sizes, ys.detach(), strict=True):
        np.testing.assert_allclose(got[:n], by_hand(encode, row[:n]), atol=1e-12)


@given(sizes=lengths, padding=st.integers(0, 4))
def test_padding_is_inert_even_where_it_is_nan(sizes, padding):
    encode, (xs, mask) = encoder(), made(sizes, padding)
    longest = max(sizes)
    tight = encode(xs[:, :longest], mask[:, :longest])
    wide = encode(xs.masked_fill(~mask[..., None], math.nan), mask)
    torch.testing.assert_close(wide[:, :longest], tight)
    assert not wide[:, longest:].any()


@pytest.mark.parametrize(("layers", "kernel"), [(1, 3), (2, 3), (2, 5)])
def test_it_sees_half_a_kernel_further_with_every_layer(layers, kernel):
    encode, (xs, mask) = encoder(layers, kernel), made([15])
    other = xs.clone()
    other[0, 7] += 1
    changed = (encode(xs, mask) != encode(other, mask)).any(-1)[0].nonzero()[:, 0].tolist()
    reach = layers * (kernel // 2)
    assert changed == list(range(7 - reach, 8 + reach))


def test_gradients_are_those_of_differences_and_finite_in_an_empty_row():
    encode, (xs, mask) = encoder(), made([3, 0, 2])
    xs.requires_grad_()
    assert torch.autograd.gradcheck(lambda xs, *_: encode(xs, mask), (xs, *encode.parameters()))
    encode(xs, mask).square().sum().backward()
    assert not xs.grad[~mask].any()


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_many_layers_neither_fade_nor_explode_before_training(dropout):
    xs, mask = torch.randn(4, 50, 64), torch.ones(4, 50, dtype=torch.bool)
    shallow, deep = (ConvolutionalEncoder(64, 64, n, dropout=dropout) for n in (1, 20))
    with torch.no_grad():
        ratio = deep(xs, mask).std() / shallow(xs, mask).std()
    assert 0.4 < ratio < 5  # a variance a fifth off to either side falls out


def test_dropout_is_for_training_only():
    encode, (xs, mask) = ConvolutionalEncoder(3, 4, 2, dropout=0.5).double(), made([5])
    assert not torch.equal(encode(xs, mask), encode(xs, mask))
    encode.eval()
    assert torch.equal(encode(xs, mask), encode(xs, mask))


def test_a_kernel_without_a_middle_is_refused():
    with pytest.raises(ModelError, match="take an odd one, such as 5"):
        ConvolutionalEncoder(3, 4, 1, kernel=4)
