"""Products of large matrices in float32 on processors that torch leaves half unused.

For float32 torch asks MKL, which keeps to AVX2 wherever the processor is not Intel's: with AVX-512 the C++ here
takes less than half the time (`elman bench cpu`). Everywhere else torch multiplies.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from threading import local
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from elman.kernels.plain_numbers import is_plain
from elman.kernels.reused_memory import reuse_empty
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.native.processor import find_level, is_intel
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Tensor

_SMALLEST = 2**19  # multiplications, below which torch has done sooner
_NARROWEST = 16  # of each side of a product: tiles are no smaller
_PIECE = 2**20  # multiplications that are worth a thread
_MOST_KEPT = 2**20  # numbers that a thread keeps for matrices that are laid out


def linear_large(
    x: Float[Tensor, "*N D"], W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None
) -> Float[Tensor, "*N H"]:
    """`torch.nn.functional.linear` with its gradients, whoever computes them."""
    if not _is_worth(x, W):
        return functional.linear(x, W, b)
    if torch.is_grad_enabled():
        ys: Tensor = _Linear.apply(x, W, b)  # type: ignore[no-untyped-call]
        return ys
    return _unflatten(_multiply(_flatten(x), W, b), x)


def linear_tanh(
    x: Float[Tensor, "*N D"], W: Float[Tensor, "H D"], b: Float[Tensor, " H"] | None = None
) -> Float[Tensor, "*N H"]:
    """tanh(x Wᵀ + b): the tanh of torch takes as long as the product, where that is ours."""
    if not _is_worth(x, W):
        return _tanh_plainly(x, W, b)
    ys: Tensor = _LinearTanh.apply(x, W, b)  # type: ignore[no-untyped-call]
    return ys


def _tanh_plainly(x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
    return torch.tanh(functional.linear(x, W, b))


def multiply_large(
    a: Float[Tensor, "M K"], b: Float[Tensor, "K N"], out: Tensor | None = None, *, add: bool = False
) -> Float[Tensor, "M N"]:
    """a b, without gradients; into ``out``, or added to it."""
    inside = out is None or out.stride(1) == 1
    if inside and _is_plain(a, b) and _is_large(*a.shape, b.shape[1]):
        return _multiply(a, b.t(), None, out, add=add)
    if out is None:
        return a @ b
    return out.addmm_(a, b) if add else torch.mm(a, b, out=out)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        rows = _flatten(x)
        ctx.save_for_backward(x, W, b, rows)
        return _unflatten(_multiply(rows, W, b), x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, W, b, rows = ctx.saved_tensors
        if torch.is_grad_enabled():
            return differentiate_plainly(functional.linear, (x, W, b), (gradient,))
        return _return_linear(x, W, rows, gradient, ctx.needs_input_grad)


class _LinearTanh(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, W: Tensor, b: Tensor | None) -> Tensor:
        rows, library = _flatten(x), _find_library()
        assert library is not None  # `_is_worth` asked
        ys = _multiply(rows, W, b)
        pieces = _count_pieces(len(rows), *W.shape)
        library.tanh(ys.numel(), ys.data_ptr(), pieces, find_parallel())
        ys = _unflatten(ys, x)
        ctx.save_for_backward(x, W, b, rows, ys)
        return ys

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, W, b, rows, ys = ctx.saved_tensors
        if torch.is_grad_enabled():
            return differentiate_plainly(_tanh_plainly, (x, W, b), (gradient,))
        inner = torch.ops.aten.tanh_backward(gradient, ys)
        return _return_linear(x, W, rows, inner, ctx.needs_input_grad)


def _return_linear(
    x: Tensor, W: Tensor, rows: Tensor, gradient: Tensor, wanted: Sequence[bool]
) -> tuple[Tensor | None, ...]:
    """The gradients of x, W and b, those that are wanted, from that of x Wᵀ + b."""
    dx, dW, db = _multiply_back(rows, W, _flatten(gradient), wanted)
    return None if dx is None else _unflatten(dx, x), dW, db


def _flatten(x: Tensor) -> Tensor:
    """Its rows, one after the other."""
    return x if x.dim() == 2 else x.reshape(-1, x.shape[-1])


def _unflatten(ys: Tensor, x: Tensor) -> Tensor:
    """Rows as those of x lie."""
    return ys if x.dim() == 2 else ys.view(*x.shape[:-1], ys.shape[1])


def _is_large(*sizes: int) -> bool:
    """Are these sizes of a product worth it? Only plain tensors are asked: others may leave sizes open."""
    return prod(sizes) >= _SMALLEST and min(sizes) >= _NARROWEST


def _is_worth(x: Tensor, W: Tensor) -> bool:
    """Is x Wᵀ a product for the library?"""
    return _is_plain(x, W) and _is_large(x.shape[:-1].numel(), *W.shape)


def _is_plain(a: Tensor, b: Tensor) -> bool:
    """Numbers in memory, and a library for them."""
    return is_plain(a, b) and _find_library() is not None


def _multiply(
    a: Tensor, b: Tensor, bias: Tensor | None, out: Tensor | None = None, *, add: bool = False
) -> Tensor:
    """a bᵀ + bias."""
    library = _find_library()
    assert library is not None  # `_is_plain` asked
    (rows, depth), width = a.shape, b.shape[0]
    c = reuse_empty(rows, width) if out is None else out
    pieces = _count_pieces(rows, depth, width)
    memory = library.find_memory(width, depth, pieces)
    given = (a.data_ptr(), *a.stride(), b.data_ptr(), *b.stride(), None if bias is None else bias.data_ptr())
    made = (c.data_ptr(), c.stride(0), add, memory.data_ptr())
    library.multiply(rows, width, depth, *given, *made, pieces, find_parallel())
    return c


def _multiply_back(
    x: Tensor, W: Tensor, gradient: Tensor, wanted: Sequence[bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """The gradients of x, W and b, those that are wanted, from that of x Wᵀ + b."""
    library = _find_library()
    if library is None or not is_plain(gradient):  # what `torch.func` transforms, or another kind
        dx, dW = gradient @ W if wanted[0] else None, gradient.t() @ x if wanted[1] else None
        return dx, dW, gradient.sum(0) if wanted[2] else None
    if gradient.stride(1) != 1:
        gradient = gradient.contiguous()
    (rows, depth), width = x.shape, W.shape[0]
    shapes = (rows, depth), (width, depth), (width,)
    made = [reuse_empty(*shape) if want else None for shape, want in zip(shapes, wanted, strict=True)]
    pieces = _count_pieces(rows, depth, width)
    memory = library.find_memory(depth, max(rows, width), pieces)
    given = (value for t in (gradient, x, W) for value in (t.data_ptr(), *t.stride()))
    at = (None if t is None else t.data_ptr() for t in (*made, memory))
    library.multiply_back(rows, width, depth, *given, *at, pieces, find_parallel())
    dx, dW, db = made
    return dx, dW, db


def _count_pieces(rows: int, depth: int, width: int) -> int:
    return max(1, min(torch.get_num_threads(), rows * depth * width // _PIECE))


@cache
def unsupported_reason() -> str | None:
    """Why torch multiplies large matrices here; None where the library does."""
    if find_level() != "avx512":
        return "only processors with AVX-512 gain by it"
    if is_intel():
        return "MKL uses all of an Intel processor"
    return why_not_loaded("large_product.cpp")


class _Kept(local):
    """What each thread of the program lays matrices out in."""

    memory = torch.empty(0)


_kept = _Kept()


class _Library(NamedTuple):
    multiply: Callable[..., Any]
    multiply_back: Callable[..., Any]
    tanh: Callable[..., Any]
    columns: int  # of a panel of the second matrix
    scratch: int  # numbers of a thread

    def find_memory(self, width: int, depth: int, pieces: int) -> Tensor:
        """Room to lay out a second matrix and the parts of threads: that of the last product, cached still."""
        count = -(-width // self.columns) * self.columns * depth + pieces * self.scratch
        if count > _MOST_KEPT:
            return reuse_empty(count)
        if count > len(_kept.memory):
            _kept.memory = torch.empty(count)
        return _kept.memory


@cache
def _find_library() -> _Library | None:
    if unsupported_reason():
        return None
    library = load_file("large_product.cpp")
    kinds: dict[str, Any] = {"i": ctypes.c_int, "n": ctypes.c_long, "p": ctypes.c_void_p}
    functions = (library.elman_multiply, library.elman_multiply_back, library.elman_tanh)
    for function, letters in zip(functions, ("iiipnnpnnppnipip", "iiipnnpnnpnnppppip", "npip"), strict=True):
        function.argtypes, function.restype = [kinds[letter] for letter in letters], None
    library.elman_count_laid.restype = library.elman_count_scratch.restype = ctypes.c_long
    return _Library(*functions, library.elman_count_laid(1, 1), library.elman_count_scratch())
