"""Pooling by hand, one row at a time, and what padding and empty rows do to it."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ModelError
from elman.layers.pooling import POOLS, WindowPooling, build_pooling

lengths = st.lists(st.integers(0, 5), min_size=1, max_size=4)


def made(sizes: list[int], width: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    steps = max(sizes)
    mask = torch.arange(steps)[None] < torch.tensor(sizes)[:, None]
    ys = torch.randn(len(sizes), steps, width)
    return ys, mask


def by_hand(name: str, ys: np.ndarray) -> np.ndarray:
    """Of one row without padding."""
    width = ys.shape[-1]
    if len(ys) == 0:
        return np.zeros(2 * width if name == "mean+max" else width, np.float32)
    half = width // 2
    return {
        "last": lambda: ys[-1],
        "ends": lambda: np.concatenate([ys[-1, :half], ys[0, half:]]),
        "mean": lambda: ys.mean(0),
        "max": lambda: ys.max(0),
        "mean+max": lambda: np.concatenate([ys.mean(0), ys.max(0)]),
    }[name]()


@pytest.mark.parametrize("name", [name for name in POOLS if name != "attention"])
@given(sizes=lengths)
def test_each_row_is_pooled_as_by_hand(name, sizes):
    ys, mask = made(sizes)
    pooling, size = build_pooling(name, 4, bidirectional=True)
    result = pooling(ys, mask)
    assert result.shape == (len(sizes), size)
    for row, n, got in zip(ys.numpy(), sizes, result, strict=True):
        np.testing.assert_allclose(got, by_hand(name, row[:n]), atol=1e-6)


@given(sizes=lengths)
def test_attention_is_a_mean_with_weights_that_sum_to_one(sizes):
    ys, mask = made(sizes)
    pooling, _ = build_pooling("attention", 4, bidirectional=True)
    result = pooling(ys, mask)
    for row, n, got in zip(ys, sizes, result, strict=True):
        scores = (torch.tanh(row[:n] @ pooling.W.weight.T + pooling.W.bias) @ pooling.v.weight.T)[:, 0]
        weights = torch.exp(scores) / torch.exp(scores).sum()
        torch.testing.assert_close(got, (weights[:, None] * row[:n]).sum(0))


def test_attention_with_nothing_learnt_is_the_mean():
    ys, mask = made([3, 5])
    pooling, _ = build_pooling("attention", 4, bidirectional=False)
    pooling.v.weight.data.zero_()
    mean, _ = build_pooling("mean", 4, bidirectional=False)
    torch.testing.assert_close(pooling(ys, mask), mean(ys, mask))


@given(sizes=lengths, width=st.integers(1, 7))
def test_a_window_is_the_first_positions_and_zeros(sizes, width):
    ys, mask = made(sizes, 2)
    for row, n, got in zip(ys, sizes, WindowPooling(width)(ys, mask), strict=True):
        expected = torch.zeros(width, 2)
        seen = min(n, width)
        expected[:seen] = row[:seen]
        assert torch.equal(got, expected.flatten())


@pytest.mark.parametrize("name", POOLS)
def test_what_stands_in_the_padding_does_not_matter(name):
    ys, mask = made([2, 0, 4])
    pooling, _ = build_pooling(name, 4, bidirectional=True)
    other = torch.where(mask[..., None], ys, torch.full_like(ys, 1e6))
    assert torch.equal(pooling(ys, mask), pooling(other, mask))


@pytest.mark.parametrize("name", POOLS)
def test_an_empty_row_has_no_gradient_that_is_not_a_number(name):
    ys, mask = made([0, 3])
    ys.requires_grad_()
    pooling, _ = build_pooling(name, 4, bidirectional=True)
    pooling(ys, mask).square().sum().backward()
    assert torch.isfinite(ys.grad).all()
    assert not ys.grad[0].any()


def test_the_ends_of_one_direction_are_refused():
    with pytest.raises(ModelError, match="take 'last'"):
        build_pooling("ends", 4, bidirectional=False)
