"""The loss of a softmax over a large vocabulary, without the matrix of all logits.

    nats_i = log Σ_v exp z_iv - (1 - ε) z_i,target - ε mean_v z_iv        z = h Wᵀ + b

Here the vocabulary is walked through in chunks, twice: forward for the log of the sum, backward for the
gradients, where a chunk of logits is computed again. That is a third more products than a softmax that
keeps its logits, but each chunk stays in the processor's cache, and the time won there is more. On a GPU
`elman.layers.cross_entropy_cuda` goes row by row instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn

from elman.errors import check_option
from elman.kernels.large_products import linear_large, multiply_large
from elman.kernels.softmax_nll import mean_softmax_nll
from elman.operators import as_operator
from elman.scan.execution import compute_dtype
from elman.second_derivatives import differentiate_plainly, needs_plain_form
from elman.shapes import Float, Int, Tensor

_HALVES = (torch.float16, torch.bfloat16)
# Logits at a time: 4 MiB on a CPU, where they must fit its cache; fewer, larger kernels on a GPU.
_LOGITS = {"cpu": 2**20}
_MORE_LOGITS = 2**26
# Up to here the logits are no larger than what the layers below keep for their gradients.
_SMALL = 1024


def linear_cross_entropy(
    h: Float[Tensor, "N D"],
    W: Float[Tensor, "V D"],
    b: Float[Tensor, " V"] | None,
    targets: Int[Tensor, " N"],
    *,
    weights: Tensor | None = None,
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """The weighted mean of what the targets cost under softmax(h Wᵀ + b), in nats.

    ``weights`` (N), such as a mask, say how much each counts; ``smoothing`` takes that share of probability
    from the target for all tokens alike. A product in halves (autocast) is summed in float32.
    """
    check_option("smoothing", smoothing, 0 <= smoothing <= 1, "from 0 to 1")
    if torch.is_grad_enabled() and use_triton_kernel(h, W):
        from elman.layers.cross_entropy_cuda import mixture_row_cross_entropy

        v, alone = h.to(compute_dtype(h))[:, None], h.new_zeros(len(h), 1, dtype=torch.float32)
        bias = W.new_zeros(len(W)) if b is None else b
        return mixture_row_cross_entropy(v, alone, W, bias, targets, weights, smoothing)
    if len(W) <= _SMALL:
        z = _wide(linear_large(h, W, b))
        return mean_softmax_nll(
            z, targets, None if weights is None else weights.to(z.dtype), smoothing=smoothing
        )
    return weighted_mean(linear_nll(h, W, b, targets, smoothing=smoothing), weights)


def linear_nll(
    h: Float[Tensor, "N D"],
    W: Float[Tensor, "V D"],
    b: Float[Tensor, " V"] | None,
    targets: Int[Tensor, " N"],
    *,
    smoothing: float = 0.0,
    chunk: int | None = None,
) -> Float[Tensor, " N"]:
    """What each target costs: F.cross_entropy of F.linear, exactly, ``chunk`` tokens of V at a time."""
    check_option("smoothing", smoothing, 0 <= smoothing <= 1, "from 0 to 1")
    if chunk is None and len(W) <= _SMALL:
        z = _wide(linear_large(h, W, b))
        return nn.functional.cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)
    h = h.to(compute_dtype(h))
    if needs_plain_form():
        return _plain_nll(h, W, b, targets, smoothing)
    return chunked_nll([h, W, targets] if b is None else [h, W, targets, b], smoothing, chunk or 0)[0]


def weighted_mean(nats: Float[Tensor, "*N"], weights: Tensor | None = None) -> Float[Tensor, ""]:
    """Σ w nats / Σ w; without weights the plain mean."""
    if weights is None:
        return nats.mean()
    weights = weights.to(nats.dtype)
    return (nats * weights).sum() / weights.sum()


def use_triton_kernel(h: Tensor, W: Tensor) -> bool:
    """Is `linear_cross_entropy` computed by the Triton kernel, with its gradients made in the forward pass?

    Triton comes with PyTorch wherever PyTorch was built for a GPU under Linux, and only there. What makes its
    gradients in the forward pass is nothing for compilers and for `torch.func`.
    """
    if torch.compiler.is_compiling() or needs_plain_form():
        return False
    large = h.is_cuda and h.dtype != torch.float64 and len(W) > _SMALL
    return large and find_spec("triton") is not None


@as_operator(lambda tensors, smoothing, chunk: [_wide(tensors[0].new_empty(len(tensors[0])))])
def chunked_nll(tensors: list[Tensor], smoothing: float, chunk: int) -> list[Tensor]:
    """What each target costs, from h, W, the targets and b, if any; a ``chunk`` of 0 is chosen here."""
    h, W, targets, *b = tensors
    most = _LOGITS.get(h.device.type, _MORE_LOGITS)
    columns = chunk or max(64, most // max(1, len(h)) // 64 * 64)
    nll: Tensor = _LinearNLL.apply(  # type: ignore[no-untyped-call]
        h, W, b[0] if b else None, targets, smoothing, columns
    )
    return [nll]


def _plain_nll(h: Tensor, W: Tensor, b: Tensor | None, targets: Tensor, smoothing: float) -> Tensor:
    """The same by way of all logits."""
    z = _wide(nn.functional.linear(h, W.to(h.dtype), None if b is None else b.to(h.dtype)))
    return nn.functional.cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)


class _LinearNLL(torch.autograd.Function):
    """Products in the precision of h; everything summed in float32 or better."""

    @staticmethod
    def forward(
        ctx: Any, h: Tensor, W: Tensor, b: Tensor | None, targets: Tensor, smoothing: float, columns: int
    ) -> Tensor:
        with torch.autocast(h.device.type, enabled=False):
            wide = _wide(h)
            total = wide.new_full((len(h),), -torch.inf)
            for here in _chunks(W, columns):
                z = _logits(h, W[here], None if b is None else b[here])
                total = torch.logaddexp(total, _log_sum(z))
            # The logits that the loss names, by their own short products.
            named = W[targets].to(wide.dtype).mul_(wide).sum(1) * (1 - smoothing)
            if b is not None:
                named = named + (1 - smoothing) * b[targets]
            if smoothing:
                named = named + smoothing * (wide @ W.mean(0).to(wide.dtype))
                named = named if b is None else named + smoothing * b.mean()
        ctx.save_for_backward(h, W, b, targets, total)
        ctx.smoothing, ctx.columns = smoothing, columns
        return total - named

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        h, W, b, targets, total = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = partial(_plain_nll, targets=targets, smoothing=ctx.smoothing)
            return *differentiate_plainly(plain, (h, W, b), (gradient,)), None, None, None
        dh, dW = torch.zeros_like(_wide(h)), torch.empty_like(W)
        db = None if b is None else torch.empty_like(b)
        weights, scale = gradient[:, None], None
        if h.dtype in _HALVES and len(h):
            # In float16 a mean over many tokens would vanish: the largest row is brought to 1 meanwhile.
            scale = gradient.abs().amax().clamp(min=torch.finfo(gradient.dtype).tiny)
            weights = weights / scale
        with torch.autocast(h.device.type, enabled=False):
            for here in _chunks(W, ctx.columns):
                p = _logits(h, W[here], None if b is None else b[here])
                p.sub_(total[:, None]).exp_()
                if ctx.smoothing:
                    p.sub_(ctx.smoothing / len(W))
                _subtract_targets(p, targets - here.start, 1 - ctx.smoothing)
                p.mul_(weights)
                if db is not None:
                    torch.sum(p, 0, out=db[here])
                _add_product(dh, p, W[here], h.dtype)
                _store_product(dW[here], p.t(), h)
        if scale is not None:
            for one in (dh, dW) if db is None else (dh, dW, db):
                one.mul_(scale)
        return dh.to(h.dtype), dW, db, None, None, None


def _chunks(W: Tensor, columns: int) -> Iterator[slice]:
    for start in range(0, len(W), columns):
        yield slice(start, min(start + columns, len(W)))


def _wide(x: Tensor) -> Tensor:
    return x.float() if x.dtype in _HALVES else x


def _logits(h: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    if b is not None and h.dtype not in _HALVES:
        return linear_large(h, W, b)
    z = _product(h, W.to(h.dtype).t())
    return z if b is None else z.add_(b)


def _log_sum(z: Tensor) -> Tensor:
    """The logsumexp of each row, in the memory of z."""
    most = z.amax(1, keepdim=True)
    return z.sub_(most).exp_().sum(1).log_().add_(most[:, 0])


def _product(a: Tensor, b: Tensor) -> Tensor:
    """a b, of halves too in float32: on a GPU never rounded in between."""
    if a.dtype not in _HALVES:
        return multiply_large(a, b)
    return torch.mm(a, b, out_dtype=torch.float32) if a.is_cuda else (a @ b).float()


def _add_product(total: Tensor, a: Tensor, b: Tensor, dtype: torch.dtype) -> None:
    if dtype in _HALVES:
        total += _product(a.to(dtype), b.to(dtype))
    else:
        multiply_large(a, b, total, add=True)


def _store_product(out: Tensor, a: Tensor, b: Tensor) -> None:
    if b.dtype in _HALVES:
        out.copy_(_product(a.to(b.dtype), b))
    else:
        multiply_large(a, b, out)


def _subtract_targets(p: Tensor, places: Tensor, amount: float) -> None:
    """Subtract ``amount`` where a row's target is among these columns: no shape depends on where."""
    columns = p.shape[1]
    inside = (places >= 0) & (places < columns)
    p.scatter_add_(1, places.clamp(0, columns - 1)[:, None], inside.to(p.dtype).mul(-amount)[:, None])
