"""Attention scored by dot products, with its gradients, by one call of C++ each way.

With torch it is ten operations forward and twenty back, most of which take longer to begin than to do: in
training a batch has a few hundred queries.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch

from elman.kernels.plain_numbers import is_plain
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Bool, Float, Tensor

_PIECE = 2**18  # multiplications that are worth a thread


class _Block(ctypes.Structure):
    """As in native/dot_attention.cpp."""

    _fields_ = (("at", ctypes.c_void_p), ("row", ctypes.c_long), ("step", ctypes.c_long))


class _Looks(ctypes.Structure):
    """As in native/dot_attention.cpp."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("rows", "steps", "positions", "depth", "width", "pieces")),
        ("scale", ctypes.c_float),
        *((name, ctypes.c_void_p) for name in ("mask", "weights")),
        *((name, _Block) for name in ("query", "keys", "values", "context")),
        ("weights_gradient", ctypes.c_void_p),
        *((name, _Block) for name in ("query_gradient", "keys_gradient", "values_gradient")),
    )


def can_attend(query: Tensor, values: Tensor, keys: Tensor, mask: Tensor) -> bool:
    """Are these numbers in memory, and is there a library for them?"""
    return is_plain(query, values, keys) and type(mask) is Tensor and unsupported_reason() is None


def attend_by_dots(
    query: Float[Tensor, "B T K"],
    keys: Float[Tensor, "B S K"],
    values: Float[Tensor, "B S E"],
    mask: Bool[Tensor, "B S"],
    scale: float,
) -> tuple[Float[Tensor, "B T E"], Float[Tensor, "B T S"]]:
    """Contexts α V and weights α = softmax(scale · Q Kᵀ) where the mask is true; zeros where it nowhere is.

    Of those that `can_attend`.
    """
    found: tuple[Tensor, Tensor] = _Attention.apply(query, keys, values, mask, scale)  # type: ignore[no-untyped-call]
    return found


def weigh_values(
    scores: Float[Tensor, "B T S"], values: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]
) -> tuple[Float[Tensor, "B T E"], Float[Tensor, "B T S"]]:
    """The same from scores of any kind, with torch."""
    scores, seen = scores.to(torch.promote_types(scores.dtype, torch.float32)), mask[:, None]
    # -∞ would make an empty source NaN: its weights come out alike and are then zeroed.
    weights = scores.masked_fill(~seen, -1e30).softmax(-1) * seen
    return torch.bmm(weights.to(values.dtype), values), weights


class _Attention(torch.autograd.Function):
    """By the library."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scale: float
    ) -> tuple[Tensor, Tensor]:
        query, keys, values, mask = _order(query), _order(keys), _order(values), mask.contiguous()
        (rows, steps, _), (_, positions, width) = query.shape, values.shape
        context, weights = query.new_empty(rows, steps, width), query.new_empty(rows, steps, positions)
        looks = _describe(query, keys, values, mask, scale, context, weights)
        _find_library().elman_look(ctypes.byref(looks), find_parallel())
        ctx.save_for_backward(query, keys, values, mask, weights)
        ctx.scale = scale
        ctx.set_materialize_grads(False)  # few ask for a gradient of the weights
        return context, weights

    @staticmethod
    def backward(ctx: Any, d: Tensor | None, d_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        query, keys, values, mask, weights = ctx.saved_tensors
        d = query.new_zeros(*query.shape[:2], values.shape[2]) if d is None else _order(d)
        if torch.is_grad_enabled():
            own = torch.zeros_like(weights) if d_weights is None else d_weights
            plain = lambda q, k, v: weigh_values(torch.bmm(q, k.transpose(1, 2)) * ctx.scale, v, mask)  # noqa: E731
            return *differentiate_plainly(plain, (query, keys, values), (d, own)), None, None
        looks = _describe(query, keys, values, mask, ctx.scale, d, weights)
        if d_weights is not None:
            d_weights = d_weights.contiguous()
            looks.weights_gradient = d_weights.data_ptr()
        found = tuple(query.new_empty(t.shape) for t in (query, keys, values))
        looks.query_gradient, looks.keys_gradient, looks.values_gradient = map(_find_block, found)
        _find_library().elman_look_back(ctypes.byref(looks), find_parallel())
        return *found, None, None


def _order(t: Tensor) -> Tensor:
    """Its units side by side in memory."""
    return t if t.stride(-1) == 1 else t.contiguous()


def _describe(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, scale: float, context: Tensor, weights: Tensor
) -> _Looks:
    (rows, steps, depth), (_, positions, width) = query.shape, values.shape
    work = rows * steps * positions * (depth + width)
    pieces = max(1, min(torch.get_num_threads(), rows, work // _PIECE))
    sizes = (rows, steps, positions, depth, width, pieces)
    blocks = map(_find_block, (query, keys, values, context))
    return _Looks(*sizes, scale, mask.data_ptr(), weights.data_ptr(), *blocks)


def _find_block(t: Tensor) -> _Block:
    row, step, _ = t.stride()
    return _Block(t.data_ptr(), row, step)


def unsupported_reason() -> str | None:
    """Why torch attends; None where the library does."""
    return why_not_loaded("dot_attention.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("dot_attention.cpp")
    for function in (library.elman_look, library.elman_look_back):
        function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    return library
