"""W x + b of a few rows without gradients, by C++ that reads W where it lies.

A matrix that multiplies a few rows is read once and computed with little: to lay it out first takes as long as
the product, and what was laid out before may be out of date. Libraries of linear algebra are made for more
rows; up to a few dozen of them this is faster (bench/decode.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch

from elman.cuda_graph import is_recording
from elman.kernels.large_products import linear_large
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.native.processor import find_level
from elman.shapes import Float, Tensor

MOST = {"avx512": 32, "avx2": 8, "plain": 0}
"""Rows up to which this was seen to be faster than torch, by what the processor has."""
_PIECE = 2**20  # numbers of a matrix that are worth a thread


def linear_few(
    x: Float[Tensor, "N D"], W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None
) -> Float[Tensor, "N H"]:
    """`torch.nn.functional.linear`, whoever computes it."""
    if x.is_cuda and is_recording() and _fits_kernel(x, W):
        from elman.kernels.few_rows_cuda import multiply_one_row

        found: Tensor = multiply_one_row(x, W, b)
        return found
    return multiply_few(x, W, b) if can_multiply(x, W) else linear_large(x, W, b)


def _fits_kernel(x: Tensor, W: Tensor) -> bool:
    """One row on a GPU, in one precision: launched from Python the kernel would be no faster."""
    plain = x.dtype == W.dtype and not torch.is_autocast_enabled("cuda") and W.stride(1) == x.stride(1) == 1
    return plain and len(x) == 1 and x.dtype != torch.float64 and find_spec("triton") is not None


def multiply_few(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """The same by the library, where `can_multiply` says so."""
    multiply, _ = _multiply()
    x = x if x.stride(1) == 1 else x.contiguous()
    (rows, depth), width = x.shape, W.shape[0]
    y = x.new_empty(rows, width)
    at = None if b is None else b.data_ptr()
    where = x.data_ptr(), x.stride(0), W.data_ptr(), W.stride(0), at, y.data_ptr()
    multiply(rows, width, depth, *where, _count_pieces(width * depth), find_parallel())
    return y


def _count_pieces(numbers: int) -> int:
    """How many threads share a product with so many: as torch has, but no more than are worth waking."""
    return 1 if numbers < _PIECE else min(torch.get_num_threads(), 1 + numbers // _PIECE)


def can_multiply(x: Tensor, W: Tensor) -> bool:
    """Is this for the library?"""
    return fits(x, W) and not is_watched()


def fits(x: Tensor, W: Tensor) -> bool:
    """Few rows of plain numbers in memory?"""
    return (
        type(x) is Tensor
        and 0 < x.shape[0] <= most_rows()
        and x.dtype == W.dtype == torch.float32
        and W.is_cpu
        and x.is_cpu
        and W.stride(1) == 1
    )


def is_watched() -> bool:
    """Does anybody look into single operations: for gradients, another precision, a graph of them?"""
    return torch.is_grad_enabled() or torch.is_autocast_enabled("cpu") or torch.compiler.is_compiling()


def most_rows() -> int:
    """How many rows the library multiplies here: none without it."""
    return _multiply()[1]


def unsupported_reason() -> str | None:
    """Why torch multiplies few rows, too; None where the library does."""
    if MOST[find_level()]:
        return why_not_loaded("few_rows.cpp")
    return "this processor has neither AVX2 nor AVX-512"


@cache
def _multiply() -> tuple[Callable[..., Any], int]:
    if unsupported_reason():
        return linear_large, 0
    multiply = load_file("few_rows.cpp").elman_multiply_rows
    kinds: dict[str, Any] = {"i": ctypes.c_int, "n": ctypes.c_long, "p": ctypes.c_void_p}
    multiply.argtypes = [kinds[letter] for letter in "iiipnpnppip"]
    multiply.restype = None
    return multiply, MOST[find_level()]
