"""The steps of a formula cell for a few rows by printed C++: matrices are read where they lie."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from elman.cells import Formulaic
from elman.errors import FormulaError
from elman.formula import Formula
from elman.formula.cpp_steps import count_scratch, distinct_widths, print_steps
from elman.kernels.few_rows import most_rows
from elman.native.library import NativeError, load_library
from elman.shapes import Float, Tensor
from elman.state import State

SMALLEST = 32  # units: what is narrower is not worth a library


@dataclass(frozen=True)
class PrintedSteps:
    """A library for the steps of a formula, and the sizes of a cell that it runs."""

    function: Callable[..., Any]
    address: int  # of the same, for other libraries
    packed_address: int  # of the one that reads matrices of bfloat16
    distinct: Any  # the widths, as C reads them
    scratch: int  # numbers for one row
    states: tuple[int, ...]  # widths

    def __call__(
        self,
        gates: Float[Tensor, "T B G"],
        masks: Sequence[Tensor],
        state: State,
        matrices: Sequence[Tensor],
        units: Sequence[Tensor],
    ) -> list[Float[Tensor, "T B H"]]:
        """The states after each step."""
        steps, rows, _ = gates.shape
        new = [gates.new_empty(steps, rows, width) for width in self.states]
        given = [t.contiguous() for t in (gates, *masks, *state, *matrices, *units)]
        places = [t.data_ptr() for t in (*given, *new)]
        scratch = gates.new_empty(rows * self.scratch)
        self.function(rows, steps, self.distinct, (ctypes.c_void_p * len(places))(*places), scratch.data_ptr())
        return new


def find_steps(cell: Formulaic) -> PrintedSteps | None:
    """The library for a cell; None where there is none, or none can be printed."""
    if cell.heads > 1 or not most_rows() or max(cell.widths.values()) < SMALLEST:
        return None
    return _find(cell.formula, tuple(cell.widths.items()))


@cache
def _find(formula: Formula, widths: tuple[tuple[str, int], ...]) -> PrintedSteps | None:
    sizes = dict(widths)
    try:
        library = load_library(print_steps(formula, sizes))
    except (FormulaError, NativeError):  # whatever the reason, there are plain steps
        return None
    pointer, function = ctypes.c_void_p, library.elman_steps
    address, packed = (_find_address(f) for f in (function, library.elman_steps_bfloat16))
    function.argtypes, function.restype = [ctypes.c_int, ctypes.c_int, pointer, pointer, pointer], None
    distinct = distinct_widths(formula, sizes)
    scratch = count_scratch(formula, sizes, 1)
    states = tuple(sizes[name] for name in formula.states)
    as_c = (ctypes.c_int * len(distinct))(*distinct)
    return PrintedSteps(function, address, packed, as_c, scratch, states)


def _find_address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
