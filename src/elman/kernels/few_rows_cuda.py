"""W x + b of one row on a GPU: each program of a Triton kernel reads some rows of W.

Libraries of linear algebra are made for more rows, and for sizes that are multiples of eight: this takes half
their time for a vector of 650 numbers. For two rows theirs are faster.
"""

from __future__ import annotations

from inspect import unwrap

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor


# An operator, so that what looks at single operations (the fusion of kernels) sees it. Its schema is written
# out: who wraps the function to check its arguments leaves no types to read it from.
@torch.library.custom_op("elman::one_row", mutates_args=(), schema="(Tensor x, Tensor W, Tensor? b) -> Tensor")
def multiply_one_row(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    """`torch.nn.functional.linear` of x (1, D)."""
    width, depth = W.shape
    y = torch.empty(1, width, dtype=x.dtype, device=x.device)
    high = 4 if width < 4096 else 8
    deep = min(1024, triton.next_power_of_2(depth))
    _multiply_kernel[(triton.cdiv(width, high),)](
        x, W, W if b is None else b, y, width, depth, W.stride(0),
        biased=b is not None, high=high, deep=deep, num_warps=4,
    )  # fmt: skip
    return y


@multiply_one_row.register_fake
def _(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    return x.new_empty(1, len(W))


def _multiply(x, W, b, y, width, depth, step, biased: tl.constexpr, high: tl.constexpr, deep: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip
    h = tl.program_id(0) * high + tl.arange(0, high)
    d = tl.arange(0, deep)
    at = h.to(tl.int64)[:, None] * step + d[None, :]
    total = tl.zeros([high, deep], tl.float32)
    for start in range(0, depth, deep):
        inside = start + d < depth
        w = tl.load(W + at + start, mask=(h < width)[:, None] & inside[None, :], other=0.0)
        one = tl.load(x + start + d, mask=inside, other=0.0)
        total += w.to(tl.float32) * one.to(tl.float32)[None, :]
    found = tl.sum(total, 1)
    if biased:
        found += tl.load(b + h, mask=h < width, other=0.0).to(tl.float32)
    tl.store(y + h, found.to(y.dtype.element_ty), mask=h < width)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_multiply_kernel = triton.jit(unwrap(_multiply))
