"""Linear layer and cross-entropy on a GPU: a chunk of rows at a time, gradients made in the forward pass.

One kernel turns a row of logits (of a mixture: all rows of a token) into its loss and, in place, into the
gradient p - target, so that logits are written once and no product is computed twice. In float16 that is what
counts: most of the time of a softmax goes into reading and writing.
"""

from __future__ import annotations

from inspect import unwrap
from typing import Any

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import nn

from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Int, Tensor

_LOGITS = 3 * 2**27  # at a time: 768 MiB in halves
_ALIGNED = 64  # products are faster where the vocabulary is a multiple of this
_ONES = 8  # columns, of which one is needed: rows stay a multiple of 16 bytes


def mixture_row_cross_entropy(
    v: Float[Tensor, "N K E"],
    log_shares: Float[Tensor, "N K"],
    W: Float[Tensor, "V E"],
    b: Float[Tensor, " V"],
    targets: Int[Tensor, " N"],
    weights: Tensor | None,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """The weighted mean of `elman.layers.mixture.mixture_nll`, with gradients."""
    counted = v.new_ones(len(v), dtype=torch.float32) if weights is None else weights.float()
    total: Tensor = _Rows.apply(  # type: ignore[no-untyped-call]
        v.contiguous(), log_shares.contiguous(), W, b, targets, counted, smoothing
    )
    return total / counted.sum()


class _Rows(torch.autograd.Function):
    """Σ w nats, nats = -log Σ_k π_k p_k(target). Products are in the precision of v, their sums in float32.

    Of a token's K rows of logits each learns with the share that it has in what the target got:

        r_k = π_k p_k / Σ_j π_j p_j        ∂nats/∂z_k = r_k (p_k - target)        ∂nats/∂log π_k = -r_k
    """

    @staticmethod
    def forward(
        ctx: Any,
        v: Tensor,
        log_shares: Tensor,
        W: Tensor,
        b: Tensor,
        targets: Tensor,
        weights: Tensor,
        smoothing: float,
    ) -> Tensor:
        rows, count = _align(W, v.dtype), v.shape[1]
        dv, nats = torch.empty_like(v, dtype=torch.float32), torch.empty_like(weights)
        r = torch.empty_like(log_shares)
        sums: Tensor | None = None
        # Float16 has few small numbers: the heaviest row has weight 1 meanwhile.
        scale = weights.abs().amax().clamp(min=torch.finfo(weights.dtype).tiny)
        with torch.autocast("cuda", enabled=False):
            for here in _chunks(len(v), count * len(rows)):
                each = v[here].flatten(0, 1)
                z = each @ rows.t()
                _row_kernel[(len(nats[here]),)](
                    z, b, log_shares[here], targets[here], weights[here], scale, nats[here],
                    r[here], len(W), len(rows), smoothing, count=count,
                    places=triton.next_power_of_2(count), block=8192, num_warps=16,
                )  # fmt: skip
                dv[here] = _product(z, rows).view(-1, *v.shape[1:])
                # A column of ones beside v: the sum of z, which is the gradient of b, comes with that of W.
                found = _product(z.t(), nn.functional.pad(each, (0, _ONES), value=1.0))
                sums = found if sums is None else sums.add_(found)
        assert sums is not None
        dW, db = sums[:, :-_ONES], sums[:, -1]
        ctx.save_for_backward(v, log_shares, W, b, targets, weights, dv, dW[: len(W)], db[: len(W)], scale, r)
        ctx.smoothing = smoothing
        return (nats * weights).sum()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        v, log_shares, W, b, targets, weights, *parts, scale, r = ctx.saved_tensors
        if torch.is_grad_enabled():

            def plain(v: Tensor, log_shares: Tensor, W: Tensor, b: Tensor) -> Tensor:
                z = (v.float() @ W.float().t() + b).transpose(1, 2)
                repeated = targets[:, None].expand(v.shape[:2])
                each = nn.functional.cross_entropy(z, repeated, reduction="none", label_smoothing=ctx.smoothing)
                total: Tensor = (log_shares - each).logsumexp(-1) * weights
                return -total.sum()

            return *differentiate_plainly(plain, (v, log_shares, W, b), (gradient,)), None, None, None
        scaled = gradient * scale
        dv, dW, db = (part.mul(scaled).to(t.dtype) for part, t in zip(parts, (v, W, b), strict=True))
        return dv, -gradient * weights[:, None] * r, dW, db, None, None, None


def _align(W: Tensor, dtype: torch.dtype) -> Tensor:
    return nn.functional.pad(W.to(dtype), (0, 0, 0, -len(W) % _ALIGNED))


def _chunks(count: int, width: int) -> list[slice]:
    """Rows in as few chunks of like size as memory asks for."""
    parts = -(-count * width // _LOGITS)
    size = max(1, -(-count // max(1, parts) // _ALIGNED)) * _ALIGNED
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def _product(a: Tensor, b: Tensor) -> Tensor:
    return a @ b if a.dtype == torch.float32 else torch.mm(a, b, out_dtype=torch.float32)


def _row(  # type: ignore[no-untyped-def]
    logits, bias, log_shares, target, weight, scale, nats, shares, V, width, smoothing,
    count: tl.constexpr, places: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    """Logits of a token's softmaxes to w / scale r (p - target), in place; columns from V to width become zero.

    Numbers that each softmax has one of stand in vectors of ``places``, of which ``count`` are used.
    """
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(target + row)
    k = tl.arange(0, places)
    log_mass = tl.zeros([places], tl.float32)
    cost = tl.zeros([places], tl.float32)
    for one in range(count):
        z = logits + (row * count + one) * width
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
        named = tl.load(z + t).to(tl.float32) + tl.load(bias + t)
        here = most + tl.log(mass)
        log_mass = tl.where(k == one, here, log_mass)
        cost = tl.where(k == one, here - (1 - smoothing) * named - smoothing * total / V, cost)
    joint = tl.load(log_shares + row * count + k, mask=k < count, other=-float("inf")) - cost
    best = tl.max(joint, 0)
    log_p = best + tl.log(tl.sum(tl.exp(joint - best), 0))
    tl.store(nats + row, -log_p)
    r = tl.exp(joint - log_p)
    tl.store(shares + row * count + k, r, mask=k < count)
    w = tl.load(weight + row) / tl.load(scale)
    tl.debug_barrier()  # no column may change before all threads have read the target's
    for one in range(count):
        z = logits + (row * count + one) * width
        here = tl.sum(tl.where(k == one, log_mass, 0.0), 0)
        learns = w * tl.sum(tl.where(k == one, r, 0.0), 0)
        for start in range(0, width, block):
            i = start + tl.arange(0, block)
            x = tl.load(z + i, mask=i < V, other=-float("inf")).to(tl.float32)
            x += tl.load(bias + i, mask=i < V, other=0.0)
            d = tl.exp(x - here) - tl.where(i == t, 1 - smoothing, 0.0) - smoothing / V
            d = tl.where(i < V, d * learns, 0.0)
            tl.store(z + i, d.to(logits.dtype.element_ty), mask=i < width)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_row_kernel = triton.jit(unwrap(_row))
