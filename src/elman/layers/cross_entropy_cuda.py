"""Linear layer and cross-entropy on a GPU: a chunk of rows at a time, gradients made in the forward pass.

One kernel turns a row of logits into its loss and, in place, into the gradient p - target, so that logits are
written once and no product is computed twice. In float16 that is what counts: most of the time of a softmax
goes into reading and writing.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import nn
from torch.autograd.function import once_differentiable

from elman.shapes import Float, Int, Tensor

_LOGITS = 3 * 2**25  # at a time: 192 MiB in halves
_ALIGNED = 64  # products are faster where the vocabulary is a multiple of this


def row_cross_entropy(
    h: Float[Tensor, "N D"],
    W: Float[Tensor, "V D"],
    b: Float[Tensor, " V"] | None,
    targets: Int[Tensor, " N"],
    weights: Tensor | None,
    smoothing: float,
) -> Float[Tensor, ""]:
    """What `elman.layers.cross_entropy.linear_cross_entropy` says, with gradients."""
    counted = h.new_ones(len(h), dtype=torch.float32) if weights is None else weights.float()
    bias = W.new_zeros(len(W)) if b is None else b
    total: Tensor = _Rows.apply(  # type: ignore[no-untyped-call]
        h.contiguous(), W, bias, targets, counted, smoothing
    )
    return total / counted.sum()


def row_nats(
    h: Float[Tensor, "N D"],
    W: Float[Tensor, "V D"],
    b: Float[Tensor, " V"],
    targets: Int[Tensor, " N"],
) -> Float[Tensor, " N"]:
    """What each target costs; nothing learns from it."""
    rows = _aligned(W, h.dtype)
    nats = h.new_empty(len(h), dtype=torch.float32)
    none, one = torch.zeros_like(nats), nats.new_ones(())
    with torch.autocast("cuda", enabled=False):
        for here in _chunks(len(h), len(rows)):
            z = h[here] @ rows.t()
            _row_kernel[(len(z),)](
                z, b, targets[here], none[here], one, nats[here], len(W), len(rows),
                0.0, block=8192, num_warps=16,
            )  # fmt: skip
    return nats


class _Rows(torch.autograd.Function):
    """Σ w nats. Products are in the precision of h, their sums in float32."""

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        W: Tensor,
        b: Tensor,
        targets: Tensor,
        weights: Tensor,
        smoothing: float,
    ) -> Tensor:
        rows = _aligned(W, h.dtype)
        dh, nats = torch.empty_like(h, dtype=torch.float32), torch.empty_like(weights)
        dW, db = rows.new_zeros(rows.shape, dtype=torch.float32), b.new_zeros(len(rows))
        # Float16 has few small numbers: the heaviest row has weight 1 meanwhile.
        scale = weights.abs().amax().clamp(min=torch.finfo(weights.dtype).tiny)
        with torch.autocast("cuda", enabled=False):
            for here in _chunks(len(h), len(rows)):
                z = h[here] @ rows.t()
                _row_kernel[(len(z),)](
                    z, b, targets[here], weights[here], scale, nats[here], len(W), len(rows),
                    smoothing, block=8192, num_warps=16,
                )  # fmt: skip
                dh[here] = _product(z, rows)
                dW += _product(z.t(), h[here])
                db += z.sum(0, dtype=torch.float32)
        ctx.save_for_backward(dh, dW[: len(W)], db[: len(W)], scale)
        ctx.dtypes = h.dtype, W.dtype, b.dtype
        return (nats * weights).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        *parts, scale = ctx.saved_tensors
        scaled = gradient * scale
        dh, dW, db = (part.mul(scaled).to(t) for part, t in zip(parts, ctx.dtypes, strict=True))
        return dh, dW, db, None, None, None


def _aligned(W: Tensor, dtype: torch.dtype) -> Tensor:
    return nn.functional.pad(W.to(dtype), (0, 0, 0, -len(W) % _ALIGNED))


def _chunks(count: int, width: int) -> list[slice]:
    """Rows in as few chunks of like size as memory asks for."""
    parts = -(-count * width // _LOGITS)
    size = max(1, -(-count // max(1, parts) // _ALIGNED)) * _ALIGNED
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _product(a: Tensor, b: Tensor) -> Tensor:
    return a @ b if a.dtype == torch.float32 else torch.mm(a, b, out_dtype=torch.float32)


def _row(logits, bias, target, weight, scale, nats, V, width, smoothing, block: tl.constexpr):  # type: ignore[no-untyped-def]
    """Logits of a row to w / scale (p - target), in place; columns from V to width become zero."""
    row = tl.program_id(0).to(tl.int64)
    z = logits + row * width
    most, mass, total = -float("inf"), 0.0, 0.0
    for start in range(0, V, block):
        i = start + tl.arange(0, block)
        real = i < V
        x = tl.load(z + i, mask=real, other=-float("inf")).to(tl.float32)
        x += tl.load(bias + i, mask=real, other=0.0)
        higher = tl.maximum(most, tl.max(x, 0))
        mass = mass * tl.exp(most - higher) + tl.sum(tl.exp(x - higher), 0)
        most = higher
        total += tl.sum(tl.where(real, x, 0.0), 0)
    log_mass = most + tl.log(mass)
    t = tl.load(target + row)
    named = tl.load(z + t).to(tl.float32) + tl.load(bias + t)
    tl.store(nats + row, log_mass - (1 - smoothing) * named - smoothing * total / V)
    w = tl.load(weight + row) / tl.load(scale)
    tl.debug_barrier()  # no column may change before all threads have read the target's
    for start in range(0, width, block):
        i = start + tl.arange(0, block)
        x = tl.load(z + i, mask=i < V, other=-float("inf")).to(tl.float32)
        x += tl.load(bias + i, mask=i < V, other=0.0)
        d = tl.exp(x - log_mass) - tl.where(i == t, 1 - smoothing, 0.0) - smoothing / V
        d = tl.where(i < V, d * w, 0.0)
        tl.store(z + i, d.to(logits.dtype.element_ty), mask=i < width)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_row_kernel = triton.jit(unwrap(_row))
