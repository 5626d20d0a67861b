"""The loss of a softmax over few tokens: a weighted mean with smoothed labels, its gradient made on the way.

With torch these are twenty operations on a few thousand numbers, forward and back.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from elman.kernels.plain_numbers import is_plain
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Int, Tensor

_PIECE = 2**16  # logits that are worth a thread


class _Targets(ctypes.Structure):
    """As in native/softmax_nll.cpp."""

    _fields_ = (
        ("rows", ctypes.c_long),
        *((name, ctypes.c_int) for name in ("count", "pieces")),
        *((name, ctypes.c_void_p) for name in ("z", "targets", "weights")),
        ("smoothing", ctypes.c_float),
        ("gradient", ctypes.c_void_p),
        ("total", ctypes.c_double),
        ("costs", ctypes.c_void_p),
    )


def mean_softmax_nll(
    z: Float[Tensor, "N V"],
    targets: Int[Tensor, " N"],
    weights: Float[Tensor, " N"] | None = None,
    *,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Σ w · cross_entropy / Σ w, ``weights`` being constants; without any the plain mean."""
    known = type(targets) is Tensor and targets.dtype == torch.int64 and targets.is_cpu
    fits = known and is_plain(z, *([] if weights is None else [weights]))
    if fits and z.shape[1] and not (weights is not None and weights.requires_grad) and not unsupported_reason():
        mean: Tensor = _SoftmaxNLL.apply(z, targets, weights, smoothing)  # type: ignore[no-untyped-call]
        return mean
    return _average_plainly(z, targets, weights, smoothing)


def _average_plainly(z: Tensor, targets: Tensor, weights: Tensor | None, smoothing: float) -> Tensor:
    """The same with torch."""
    nats = cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)
    return nats.mean() if weights is None else (nats * weights).sum() / weights.sum()


class _SoftmaxNLL(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, targets: Tensor, weights: Tensor | None, smoothing: float) -> Tensor:
        given = [None if t is None else t.contiguous() for t in (z, targets, weights)]
        gradient = z.new_empty(z.shape) if ctx.needs_input_grad[0] else None
        costs, mean, (rows, count) = z.new_empty(len(z), dtype=torch.float64), z.new_empty(()), z.shape
        pieces = max(1, min(torch.get_num_threads(), z.numel() // _PIECE))
        at = [None if t is None else t.data_ptr() for t in (*given, gradient)]
        job = _Targets(rows, count, pieces, *at[:3], smoothing, at[3], 0.0, costs.data_ptr())
        bad = _find_library().elman_softmax_nll(ctypes.byref(job), mean.data_ptr(), find_parallel())
        if bad >= 0:
            raise IndexError(f"Target {targets[bad].item()} is out of bounds.")  # as torch says it
        ctx.save_for_backward(z, targets, weights, gradient)
        ctx.smoothing = smoothing
        return mean

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        z, targets, weights, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda z: _average_plainly(z, targets, weights, ctx.smoothing)  # noqa: E731
            return *differentiate_plainly(plain, (z,), (d,)), None, None, None
        return gradient * d, None, None, None


def unsupported_reason() -> str | None:
    """Why torch averages; None where the library does."""
    return why_not_loaded("softmax_nll.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("softmax_nll.cpp")
    library.elman_softmax_nll.argtypes = [ctypes.c_void_p] * 3
    library.elman_softmax_nll.restype = ctypes.c_long
    return library
