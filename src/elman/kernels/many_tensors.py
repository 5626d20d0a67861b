"""What is done to all gradients or all weights of a network: by C++ in one call, not in one for each tensor."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from functools import cache
from math import sqrt
from typing import Any

import torch
from torch.nn.utils import get_total_norm

from elman.kernels.plain_numbers import is_plain
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.shapes import Float, Tensor

_ALONE = 2**18  # numbers that one thread has done sooner than a second is woken


class _Tensors(ctypes.Structure):
    """As in native/many_tensors.cpp."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ("count", "hands")),
        *((name, ctypes.c_void_p) for name in ("sizes", "to", "of")),
        ("share", ctypes.c_float),
        ("sums", ctypes.c_void_p),
    )


def clip_norm(gradients: list[Tensor], limit: float) -> Float[Tensor, ""]:
    """The norm of all gradients together; where it is above a limit, they are scaled to it. 0: no limit."""
    if not _fits(gradients):
        norm = get_total_norm(gradients)
        if limit:
            torch._foreach_mul_(gradients, (limit / (norm + 1e-6)).clamp(max=1.0))
        return norm
    total = sqrt(_call("elman_add_squares", gradients))
    if 0 < limit < total + 1e-6:
        _call("elman_scale", gradients, share=limit / (total + 1e-6))
    return torch.tensor(total)


@torch.no_grad()
def move_towards(means: list[Tensor], latest: list[Tensor], share: float) -> None:
    """m + share · (w - m) instead of each mean m, w being what is latest."""
    if _fits(means) and _fits(latest):
        _call("elman_move", means, latest, share=share)
    else:
        torch._foreach_lerp_(means, latest, share)


def _fits(tensors: Sequence[Tensor]) -> bool:
    """Are they plain numbers side by side in memory, and is there a library for them?"""
    return is_plain(*tensors) and all(t.is_contiguous() for t in tensors) and unsupported_reason() is None


def _call(name: str, to: Sequence[Tensor], of: Sequence[Tensor] = (), *, share: float = 0.0) -> Any:
    sizes = array("q", [t.numel() for t in to])
    at = [array("Q", [t.data_ptr() for t in some]) for some in (to, of)]
    hands = torch.get_num_threads() if sum(sizes) > _ALONE else 1
    where = [each.buffer_info()[0] for each in (sizes, *at)]
    job = _Tensors(len(to), hands, *where, share)
    return getattr(_find_library(), name)(ctypes.byref(job), find_parallel())


def unsupported_reason() -> str | None:
    """Why torch goes from tensor to tensor; None where the library does."""
    return why_not_loaded("many_tensors.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("many_tensors.cpp")
    for function in (library.elman_add_squares, library.elman_scale, library.elman_move):
        function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    library.elman_add_squares.restype = ctypes.c_double
    return library
