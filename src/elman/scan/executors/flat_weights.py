"""The weights of a cell as cuDNN takes them: in one piece, in the precision it computes in, by one copy.

A cell keeps its matrices apart, in float32. cuDNN would copy each of them at each call, and warn; autocast
would round each by a kernel of its own, and each gradient again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import torch
from torch.backends.cudnn import rnn

from elman.shapes import Tensor

Place = tuple[torch.Size, tuple[int, ...], int]  # shape, strides and where it begins


class FlatLayout(NamedTuple):
    """Where the weights lie in their buffer."""

    size: int
    places: tuple[Place, ...]

    def make_buffer(self, like: Tensor, dtype: torch.dtype) -> Tensor:
        """Without biases cuDNN still adds those that it has room for: they are zero."""
        full = sum(prod(shape) for shape, _, _ in self.places) == self.size
        return (like.new_empty if full else like.new_zeros)(self.size, dtype=dtype)


def flatten_weights(weights: Sequence[Tensor], mode: str, dtype: torch.dtype) -> list[Tensor]:
    """Views of one buffer; ``mode`` is cuDNN's name of the cell (LSTM, GRU, RNN_TANH, RNN_RELU)."""
    shapes = tuple(tuple(w.shape) for w in weights)
    layout = _find_layout(shapes, mode, dtype, weights[0].device)
    return [*_FlatWeights.apply(layout, dtype, *weights)]  # type: ignore[no-untyped-call]


@cache
def _find_layout(
    shapes: tuple[tuple[int, ...], ...], mode: str, dtype: torch.dtype, device: torch.device
) -> FlatLayout:
    """Asked of cuDNN: it moves weights of these shapes to where it wants them."""
    (_, inputs), (_, outputs) = shapes[:2]
    projects = len(shapes) in (3, 5)
    hidden = shapes[-1][1] if projects else outputs
    weights = [torch.empty(shape, dtype=dtype, device=device) for shape in shapes]
    number = rnn.get_cudnn_mode(mode)  # type: ignore[no-untyped-call]
    projected = outputs if projects else 0
    with torch.no_grad():
        whole = torch._cudnn_rnn_flatten_weight(
            weights, len(weights), inputs, number, hidden, projected, 1, True, False
        )
    return FlatLayout(whole.numel(), tuple((w.shape, w.stride(), int(w.storage_offset())) for w in weights))


class _FlatWeights(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, layout: FlatLayout, dtype: torch.dtype, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.dtype = weights[0].dtype
        whole = layout.make_buffer(weights[0], dtype)
        views = [whole.as_strided(*place) for place in layout.places]
        torch._foreach_copy_(views, weights)
        return tuple(views)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        if gradients[0].dtype == ctx.dtype or torch.is_grad_enabled():
            return None, None, *(g.to(ctx.dtype) for g in gradients)
        sizes = [prod(g.shape) for g in gradients]
        whole = gradients[0].new_empty(sum(sizes), dtype=ctx.dtype)
        found = [part.view_as(g) for part, g in zip(torch.split(whole, sizes), gradients, strict=True)]
        torch._foreach_copy_(found, gradients)
        return None, None, *found
