"""A Transformer encoder by hand, what its positions say, and what padding does to it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ModelError
from elman.layers.stateless_encoders import TransformerEncoder, positions

lengths = st.lists(st.integers(0, 6), min_size=1, max_size=4)
DOUBLE = torch.zeros(0, dtype=torch.float64)


def encoder(layers: int = 2, heads: int = 2) -> TransformerEncoder:
    return TransformerEncoder(3, 4, layers, heads).double()


def made(sizes: list[int], padding: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(sizes) + padding
    mask = torch.arange(longest)[None] < torch.tensor(sizes)[:, None]
    return torch.randn(len(sizes), longest, 3, dtype=torch.float64), mask


def by_hand(encode: TransformerEncoder, xs: np.ndarray, heads: int) -> np.ndarray:
    """Of one row without padding."""
    weights = {name: value.detach().numpy() for name, value in encode.state_dict().items()}

    def linear(x, name):
        return x @ weights[f"{name}weight"].T + weights[f"{name}bias"]

    def normal(x, name):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return x * weights[f"{name}weight"] + weights[f"{name}bias"]

    ys = normal(linear(xs, "read.0."), "read.1.") + positions(len(xs), 4, DOUBLE).numpy()
    for n in range(len(encode.layers)):
        own = f"layers.{n}."
        three = linear(normal(ys, f"{own}norm1."), f"{own}self_attn.in_proj_")
        looked = []
        for head in range(heads):
            q, k, v = (np.split(part, heads, -1)[head] for part in np.split(three, 3, -1))
            e = np.exp(q @ k.T / math.sqrt(q.shape[-1]))
            looked.append(e / e.sum(-1, keepdims=True) @ v)
        ys = ys + linear(np.concatenate(looked, -1), f"{own}self_attn.out_proj.")
        inner = np.maximum(linear(normal(ys, f"{own}norm2."), f"{own}linear1."), 0)
        ys = ys + linear(inner, f"{own}linear2.")
    return normal(ys, "norm.")


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 4])
@given(sizes=lengths, layers=st.integers(0, 2))
def test_each_row_is_encoded_as_by_hand_and_zero_at_the_padding(training, heads, sizes, layers):
    encode, (xs, mask) = encoder(layers, heads).train(training), made(sizes)
    with torch.set_grad_enabled(training):
        ys = encode(xs, mask)
    assert ys.shape == (*mask.shape, encode.output_size)
    assert not ys[~mask].any()
    for row, n, got in zip(xs.numpy(), sizes, ys.detach(), strict=True):
        np.testing.assert_allclose(got[:n], by_hand(encode, row[:n], heads), atol=1e-11)


@given(sizes=lengths, padding=st.integers(0, 4))
def test_padding_is_inert_even_where_it_is_nan(sizes, padding):
    encode, (xs, mask) = encoder(), made(sizes, padding)
    longest = max(sizes)
    tight = encode(xs[:, :longest], mask[:, :longest])
    wide = encode(xs.masked_fill(~mask[..., None], math.nan), mask)
    torch.testing.assert_close(wide[:, :longest], tight)
    assert not wide[:, longest:].any()


def test_every_position_sees_every_other():
    encode, (xs, mask) = encoder(1), made([6])
    other = xs.clone()
    other[0, 3] += torch.tensor([1.0, -1.0, 0.5])
    assert (encode(xs, mask) != encode(other, mask)).any(-1).all()


def test_gradients_are_those_of_differences_and_finite_in_an_empty_row():
    encode, (xs, mask) = encoder(1), made([3, 0, 2])
    xs.requires_grad_()
    assert torch.autograd.gradcheck(lambda xs, *_: encode(xs, mask), (xs, *encode.parameters()))
    encode(xs, mask).square().sum().backward()
    assert not xs.grad[~mask].any()


def test_dropout_is_for_training_only():
    encode, (xs, mask) = TransformerEncoder(3, 4, 2, 2, dropout=0.5).double(), made([5])
    assert not torch.equal(encode(xs, mask), encode(xs, mask))
    encode.eval()
    assert torch.equal(encode(xs, mask), encode(xs, mask))


@given(steps=st.integers(0, 40), more=st.integers(0, 40), size=st.integers(1, 9))
def test_a_position_is_the_same_in_every_length(steps, more, size):
    short, long = (positions(n, size, DOUBLE) for n in (steps, steps + more))
    assert short.shape == (steps, size)
    assert torch.equal(short, long[:steps])


@given(i=st.integers(0, 50), j=st.integers(0, 50), further=st.integers(0, 50))
def test_what_two_positions_have_in_common_depends_on_their_distance_alone(i, j, further):
    table = positions(101, 8, DOUBLE)
    torch.testing.assert_close(table[i] @ table[j], table[i + further] @ table[j + further])


def test_positions_in_half_precision_are_rounded_last():
    expected = positions(5000, 8, torch.zeros(0)).half()
    assert torch.equal(positions(5000, 8, torch.zeros(0).half()), expected)


def test_heads_that_cannot_share_are_refused():
    with pytest.raises(ModelError, match="10 units cannot be shared equally among 4 heads"):
        TransformerEncoder(3, 10, 1)
