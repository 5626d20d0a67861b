"""Filters over the characters of words, and the strongest answer of each: max_i (W c_{i-1:i+1} + b).

A filter is a sum over its places, W c_{i-1:i+1} = Σ_k W_k E[c_{i+k-1}], so what each character of the alphabet
gives to each place is computed once, P = E W_kᵀ. C++ then adds and compares rows of P; on the way back only the
position that won has a gradient.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch.nn import functional

from elman.kernels.plain_numbers import is_plain
from elman.native.library import load_file, why_not_loaded
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Int, Tensor


class _Words(ctypes.Structure):
    """As in native/character_filters.cpp."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("count", "length")),
        *((name, ctypes.c_int) for name in ("places", "filters")),
        ("characters", ctypes.c_void_p),
    )


def filter_characters(
    characters: Int[Tensor, "N C"], E: Float[Tensor, "A D"], W: Float[Tensor, "F KD"], b: Float[Tensor, " F"]
) -> Float[Tensor, "N F"]:
    """The answers of all filters to all words; character 0 is the padding, and a word of nothing else has 0."""
    if not _is_plain(characters, E, W, b):
        return filter_features(characters, functional.embedding(characters, E, 0), W, b)
    rows = functional.embedding(torch.arange(len(E)), E, 0)  # the padding's has no gradient
    places = W.view(len(W), E.shape[1], -1).permute(2, 0, 1).reshape(-1, E.shape[1])
    found: Tensor = _Filters.apply(functional.linear(rows, places), b, characters)  # type: ignore[no-untyped-call]
    return found


def filter_features(
    characters: Int[Tensor, "N C"], cs: Float[Tensor, "N C D"], W: Float[Tensor, "F KD"], b: Float[Tensor, " F"]
) -> Float[Tensor, "N F"]:
    """The same from the features of each character, with torch."""
    if not characters.shape[1]:  # nothing but padding
        return W.new_zeros(len(characters), len(W))
    width = W.shape[1] // cs.shape[2]
    windows = functional.pad(cs, (0, 0, width // 2, width // 2)).unfold(1, width, 1).flatten(2)
    return _find_largest(characters, functional.linear(windows, W, b))


def _find_largest(characters: Tensor, ys: Float[Tensor, "N C F"]) -> Float[Tensor, "N F"]:
    empty = characters == 0
    best: Tensor = ys.masked_fill(empty[..., None], -torch.inf).amax(1)
    return best.masked_fill(empty.all(1, keepdim=True), 0.0)


class _Filters(torch.autograd.Function):
    """By the library, from P (A, K·F), b and the characters."""

    @staticmethod
    def forward(ctx: Any, P: Tensor, b: Tensor, characters: Tensor) -> Tensor:
        P, b, characters = P.contiguous(), b.contiguous(), characters.contiguous()
        best, place = (P.new_empty(len(characters), len(b)) for _ in "12")
        given = (P.data_ptr(), b.data_ptr(), best.data_ptr(), place.data_ptr())
        _find_library().elman_filter(ctypes.byref(_describe(characters, P, b)), *given)
        ctx.save_for_backward(P, b, characters, place)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        P, b, characters, place = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda P, b: _add_places(characters, P, b)  # noqa: E731
            return *differentiate_plainly(plain, (P, b), (gradient,)), None
        dP, db, gradient = torch.zeros_like(P), torch.zeros_like(b), gradient.contiguous()
        given = (place.data_ptr(), gradient.data_ptr(), dP.data_ptr(), db.data_ptr())
        _find_library().elman_filter_back(ctypes.byref(_describe(characters, P, b)), *given)
        return dP, db, None


def _add_places(characters: Tensor, P: Tensor, b: Tensor) -> Tensor:
    """The answers from P, with torch."""
    each = functional.embedding(characters, P).view(*characters.shape, -1, len(b))
    around, length = each.shape[2] // 2, each.shape[1]
    padded = functional.pad(each, (0, 0, 0, 0, around, around))
    ys = sum(padded[:, k : k + length, k] for k in range(each.shape[2]))
    return _find_largest(characters, ys + b)


def _describe(characters: Tensor, P: Tensor, b: Tensor) -> _Words:
    (count, length), filters = characters.shape, len(b)
    return _Words(count, length, P.shape[1] // filters, filters, characters.data_ptr())


def _is_plain(characters: Tensor, *weights: Tensor) -> bool:
    """Numbers in memory, and a library for them?"""
    return (
        is_plain(*weights)
        and type(characters) is Tensor
        and characters.is_cpu
        and characters.dtype == torch.long
        and characters.shape[1] > 0
        and unsupported_reason() is None
    )


def unsupported_reason() -> str | None:
    """Why torch filters characters; None where the library does."""
    return why_not_loaded("character_filters.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("character_filters.cpp")
    library.elman_filter.argtypes = library.elman_filter_back.argtypes = [ctypes.c_void_p] * 5
    return library
