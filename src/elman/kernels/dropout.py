"""Dropout in half the time, of the same numbers.

Wherever the processor is not Intel's, torch's `bernoulli_` guesses the way of a branch at every number, and is
often wrong. To compare uniform numbers has no branch, and draws the same masks from the same state of the
generator.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from elman.kernels.plain_numbers import is_plain
from elman.native.processor import is_intel
from elman.shapes import Float, Tensor


def draw_mask(like: Tensor, *shape: int, p: float) -> Float[Tensor, "*N"]:
    """Zeros with probability p, else 1 / (1 - p)."""
    return _draw(shape, p) if _is_ours(like, p) else functional.dropout(like.new_ones(shape), p)


def dropout(x: Float[Tensor, "*N"], p: float) -> Float[Tensor, "*N"]:
    """`torch.nn.functional.dropout`."""
    return x * _draw(x.shape, p) if _is_ours(x, p) else functional.dropout(x, p)


def _draw(shape: tuple[int, ...], p: float) -> Tensor:
    return (torch.rand(shape, dtype=torch.float64) < 1 - p).float().div_(1 - p)


def _is_ours(x: Tensor, p: float) -> bool:
    return p < 1 and is_plain(x) and not is_intel()
