"""W x + b of a few rows without gradients, by C++ that reads W where it lies.

A matrix that multiplies a few rows is read once and computed with little: to lay it out first takes as long as
the product, and what was laid out before may be out of date. Libraries of linear algebra are made for more
rows; up to a few dozen of them this is faster (bench/decode.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.nn.functional import linear

from elman.native.host_threads import find_parallel
from elman.native.library import FOLDER, NativeError, load_library
from elman.native.processor import find_level
from elman.shapes import Float, Tensor

MOST = {"avx512": 32, "avx2": 8, "plain": 0}
"""Rows up to which this was seen to be faster than torch, by what the processor has."""
_PIECE = 2**20  # numbers of a matrix that are worth a thread


def linear_few(
    x: Float[Tensor, "N D"], W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None
) -> Float[Tensor, "N H"]:
    """`torch.nn.functional.linear`, whoever computes it."""
    rows = len(x)
    if not can_multiply(x, W):
        return linear(x, W, b)
    multiply, _ = _multiply()
    x = x if x.stride(1) == 1 else x.contiguous()
    y = torch.empty(rows, len(W))
    at = b.data_ptr() if b is not None else None
    where = x.data_ptr(), x.stride(0), W.data_ptr(), W.stride(0), at, y.data_ptr()
    multiply(rows, *W.shape, *where, _count_pieces(W), find_parallel())
    return y


def _count_pieces(W: Tensor) -> int:
    """How many threads share a product: as many as torch has, but no more than are worth waking."""
    return min(torch.get_num_threads(), 1 + W.numel() // _PIECE)


def can_multiply(x: Tensor, W: Tensor) -> bool:
    """Is this for the library? Plain numbers in memory, no gradients, nothing that watches."""
    return (
        type(x) is Tensor
        and 0 < len(x) <= most_rows()
        and not torch.is_grad_enabled()
        and W.is_cpu
        and W.dtype == x.dtype == torch.float32
        and W.stride(1) == 1
        and x.is_cpu
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def most_rows() -> int:
    """How many rows the library multiplies here: none without it."""
    return _multiply()[1]


def unsupported_reason() -> str | None:
    """Why torch multiplies few rows, too; None where the library does."""
    try:
        load_library(_source())
    except NativeError as error:
        return str(error)
    return None if MOST[find_level()] else "this processor has neither AVX2 nor AVX-512"


@cache
def _multiply() -> tuple[Callable[..., Any], int]:
    if unsupported_reason():
        return linear, 0
    multiply = load_library(_source()).elman_multiply_rows
    number, pointer = ctypes.c_long, ctypes.c_void_p
    whole = ctypes.c_int
    strides = [pointer, number, pointer, number]
    multiply.argtypes = [whole, whole, whole, *strides, pointer, pointer, whole, pointer]
    multiply.restype = None
    return multiply, MOST[find_level()]


def _source() -> str:
    return (FOLDER / "few_rows.cpp").read_text()
