"""The likeliest of many tokens, by C++: one pass over the logits, and no tensor for what is in between.

Where there is no library, or the logits are not float32 in the memory of a CPU, each says so by None.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

from elman.native.library import load_file, why_not_loaded
from elman.shapes import Float, Int, Tensor

_MOST = 64  # tokens: they are kept in order one by one
_int, _pointer = ctypes.c_int, ctypes.c_void_p


def find_log_probability(logits: Float[Tensor, " V"], token: int) -> float | None:
    """Of a token under the softmax of its logits."""
    library = _find_library(logits, 1)
    if library is None:
        return None
    found: float = library.elman_log_probability(logits.data_ptr(), len(logits), token)
    return found


def rank_tokens(logits: Float[Tensor, " V"], barred: Sequence[int], k: int) -> list[tuple[float, int]] | None:
    """The k greatest probabilities among all but the barred tokens, and whose they are; none that is zero."""
    library, count = _find_library(logits, k), len(logits)
    if library is None:
        return None
    values, places = (ctypes.c_float * k)(), (ctypes.c_int64 * k)()
    scratch, bars = logits.new_empty(count), (ctypes.c_int32 * len(barred))(*barred)
    given = count, logits.data_ptr(), len(barred), bars
    found = library.elman_likeliest(*given, min(k, count), values, places, scratch.data_ptr())
    return [*zip(values[:found], places[:found], strict=True)]


def rank_rows(logits: Float[Tensor, "N V"], k: int) -> tuple[Float[Tensor, "N k"], Int[Tensor, "N k"]] | None:
    """The k greatest log-probabilities of each row, of equal ones the lowest token first, and their tokens."""
    rows, count = logits.shape
    library = _find_library(logits, k) if k <= count else None
    if library is None:
        return None
    values, places = logits.new_empty(rows, k), logits.new_empty(rows, k, dtype=torch.int64)
    library.elman_rank_rows(rows, count, logits.data_ptr(), k, values.data_ptr(), places.data_ptr())
    return values, places


def _find_library(logits: Tensor, k: int) -> ctypes.CDLL | None:
    plain = logits.dtype is torch.float32 and logits.is_cpu and logits.is_contiguous()
    return _load() if plain and k <= _MOST else None


@cache
def _load() -> Any:
    if why_not_loaded("ranking.cpp"):
        return None
    library = load_file("ranking.cpp")
    library.elman_log_probability.argtypes = [_pointer, _int, _int]
    library.elman_log_probability.restype = ctypes.c_double
    library.elman_likeliest.argtypes = [_int, _pointer, _int, _pointer, _int, _pointer, _pointer, _pointer]
    library.elman_rank_rows.argtypes = [_int, _int, _pointer, _int, _pointer, _pointer]
    library.elman_rank_rows.restype = None
    return library
