"""W x + b under autocast on a GPU: what is multiplied is rounded to 16 bits once, and nothing after it.

Autocast by itself also rounds the gradients of W, b and x, although they are asked for in float32.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.nn import functional

from elman.second_derivatives import differentiate_plainly, needs_plain_form
from elman.shapes import Float, Tensor


def is_mixed(x: Tensor, W: Tensor) -> bool:
    """Are gradients of float32 weights wanted under autocast on a GPU, and nobody looks into the operations?"""
    if not (x.is_cuda and x.dim() == 2 and torch.is_autocast_enabled("cuda") and torch.is_grad_enabled()):
        return False
    return W.dtype == torch.float32 and not needs_plain_form() and not torch.compiler.is_compiling()


def linear_mixed(
    x: Float[Tensor, "N D"], W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None
) -> Float[Tensor, "N H"]:
    """`torch.nn.functional.linear` in the precision of autocast; gradients add up in float32."""
    found: Tensor = _MixedLinear.apply(x, W, b, torch.get_autocast_dtype("cuda"))  # type: ignore[no-untyped-call]
    return found


def multiply_sums(a: Float[Tensor, "M K"], b: Float[Tensor, "K N"], dtype: torch.dtype) -> Float[Tensor, "M N"]:
    """a b of 16-bit matrices, rounded to ``dtype`` from the sums in float32."""
    return torch.mm(a, b) if a.dtype == dtype else torch.mm(a, b, out_dtype=dtype)


class _MixedLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None, dtype: torch.dtype) -> Tensor:
        small, weight = x.to(dtype), W.to(dtype)
        ctx.save_for_backward(x, W, b, small, weight)
        return functional.linear(small, weight, None if b is None else b.to(dtype))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, W, b, small, weight = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = partial(multiply_plainly, dtype=weight.dtype)
            return *differentiate_plainly(plain, (x, W, b), (gradient,)), None
        gradient, wanted = gradient.to(weight.dtype), ctx.needs_input_grad
        dx = multiply_sums(gradient, weight, x.dtype) if wanted[0] else None
        dW = multiply_sums(gradient.t(), small, torch.float32) if wanted[1] else None
        db = gradient.sum(0, dtype=torch.float32) if wanted[2] else None
        return dx, dW, db, None


def multiply_plainly(x: Tensor, W: Tensor, b: Tensor | None, *, dtype: torch.dtype) -> Tensor:
    """The same by operations that can be differentiated again."""
    with torch.autocast("cuda", enabled=False):
        return functional.linear(x.to(dtype), W.to(dtype), None if b is None else b.to(dtype))
