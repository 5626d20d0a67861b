"""W x + b of a few rows on a GPU: each program of a Triton kernel reads some rows of W, once for all x.

Libraries of linear algebra are made for more rows, and for sizes that are multiples of eight.
"""

from __future__ import annotations

from inspect import unwrap

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from torch import Tensor


# An operator, so that what looks at single operations (the fusion of kernels) sees it.
@torch.library.custom_op("elman::few_rows", mutates_args=())
def multiply_few_rows(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    """`torch.nn.functional.linear`."""
    rows, depth = x.shape
    width = len(W)
    y = torch.empty(rows, width, dtype=x.dtype, device=x.device)
    high = 8 if width < 4096 else 16
    grid = (triton.cdiv(width, high),)
    deep = min(512, triton.next_power_of_2(depth))
    _multiply_kernel[grid](
        x, W, W if b is None else b, y, width, depth, x.stride(0), W.stride(0),
        biased=b is not None, rows=rows, high=high, deep=deep, num_warps=4,
    )  # fmt: skip
    return y


@multiply_few_rows.register_fake
def _(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    return x.new_empty(len(x), len(W))


def _multiply(x, W, b, y, width, depth, x_step, W_step, biased: tl.constexpr, rows: tl.constexpr, high: tl.constexpr, deep: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    h = tl.program_id(0) * high + tl.arange(0, high)
    d = tl.arange(0, deep)
    at = h.to(tl.int64)[:, None] * W_step + d[None, :]
    for n in tl.static_range(rows):
        total = tl.zeros([high, deep], tl.float32)
        for start in range(0, depth, deep):
            inside = start + d < depth
            w = tl.load(W + at + start, mask=(h < width)[:, None] & inside[None, :], other=0.0)
            one = tl.load(x + n * x_step + start + d, mask=inside, other=0.0)
            total += w.to(tl.float32) * one.to(tl.float32)[None, :]
        found = tl.sum(total, 1)
        if biased:
            found += tl.load(b + h, mask=h < width, other=0.0).to(tl.float32)
        tl.store(y + n * width + h, found.to(y.dtype.element_ty), mask=h < width)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_multiply_kernel = triton.jit(unwrap(_multiply))
