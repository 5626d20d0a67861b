"""Programs of the C++ that runs the step of a whole network in one call: a list of instructions over buffers.

A buffer holds as many rows as a call has. Its number stands for it; the first ones are given by the caller, the
others last as long as the call. Nothing here knows torch: matrices are addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from elman.native.library import load_file

LOOK_UP, FOLD, MULTIPLY, MULTIPLY_BFLOAT16, STEP, ADD, TANH, WEIGH, FIND = range(9)
POSITIONS = -1  # in place of a width: as many as the sources of a call have
_FIXED = -1  # in place of a buffer

_int, _long, _pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p


class Outdated(Exception):
    """Something that a program was made of has changed."""


_OUTCOMES: dict[int, tuple[type[Exception], str]] = {
    1: (MemoryError, "there is no memory for a step"),
    2: (IndexError, "there is no such token"),
    3: (Outdated, "weights have changed"),
}


class _Instruction(ctypes.Structure):
    _fields_ = (
        *((name, _int) for name in ("kind", "to", "source", "beside", "width", "depth", "add", "rest")),
        *((name, _pointer) for name in ("matrix", "bias", "table")),
        *(("stride", _long), ("scale", ctypes.c_double)),
    )


class _FormulaStep(ctypes.Structure):
    _fields_ = (
        *((name, _pointer) for name in ("run", "widths", "places", "fixed")),
        *((name, _long) for name in ("count", "scratch")),
    )


class _FoldedTable(ctypes.Structure):
    _fields_ = tuple((name, _pointer) for name in ("E", "rows", "known"))


class WeightSample(ctypes.Structure):
    """Some numbers of a matrix and a checksum of all, as they were when something was made of it."""

    _fields_ = (
        *(("at", _pointer), ("values", _pointer), ("count", _long), ("step", _long)),
        *(("numbers", _long), ("checksum", ctypes.c_uint64)),
    )


class _Program(ctypes.Structure):
    _fields_ = (
        *((name, _pointer) for name in ("instructions", "widths", "samples")),
        *((name, _long) for name in ("sampled", "count", "buffers", "given", "scratch", "vocabulary")),
    )


class Sources(ctypes.Structure):
    """What a decoder looks at: keys and values (B, S, …) and the mask (B, S) by address, and their sizes.

    There are two sets of values, for two that read what is found.
    """

    _fields_ = (
        *(("keys", _pointer), ("values", _pointer * 2), ("mask", _pointer)),
        *(("positions", _int), ("depth", _int), ("widths", _int * 2)),
    )


class ProgramCall(ctypes.Structure):
    """What changes from one call to the next."""

    _fields_ = (
        *((name, _pointer) for name in ("given", "tokens", "sources", "source_rows", "parallel")),
        *((name, _int) for name in ("rows", "threads")),
    )


@dataclass(frozen=True)
class Matrix:
    """Where the rows of a matrix lie, how far apart, and of which numbers."""

    at: int
    width: int  # rows of the matrix, so columns of what it gives
    depth: int
    stride: int
    bfloat16: bool = False


class ProgramBuilder:
    """Collects instructions; buffers that the caller gives come first."""

    def __init__(self, given: Sequence[int]) -> None:
        self.widths, self.given, self.scratch, self.vocabulary = [*given], len(given), 0, 0
        self.instructions: list[_Instruction] = []
        self.kept: list[Any] = []  # what addresses point to

    def buffer(self, width: int) -> int:
        """A new one."""
        self.widths.append(width)
        return len(self.widths) - 1

    def look_up(self, table: int, rows: int, width: int) -> int:
        """Rows of a table, by the tokens of the call."""
        to, self.vocabulary = self.buffer(width), rows
        self._add(kind=LOOK_UP, to=to, width=width, table=table, stride=width)
        return to

    def fold(self, E: int, vocabulary: int, W: Matrix, bias: int | None, rows: int, known: int) -> int:
        """x Wᵀ + b of rows x of E, by the tokens of the call; what was computed once is kept.

        At ``rows`` there is room for (vocabulary, width + depth) numbers, and at ``known`` for a byte a row,
        all zero at first.
        """
        to, self.vocabulary = self.buffer(W.width), vocabulary
        made = _FoldedTable(E, rows, known)
        self.kept.append(made)
        sizes: dict[str, Any] = {"width": W.width, "depth": W.depth, "stride": W.stride}
        self._add(kind=FOLD, to=to, **sizes, matrix=W.at, bias=bias, table=ctypes.addressof(made))
        return to

    def multiply(
        self, x: int, W: Matrix, bias: int | None = None, to: int | None = None, *, add: bool = False
    ) -> int:
        """x Wᵀ + b, or that added to what is there."""
        to = self.buffer(W.width) if to is None else to
        kind, sizes = MULTIPLY_BFLOAT16 if W.bfloat16 else MULTIPLY, {"width": W.width, "depth": W.depth}
        self._add(kind=kind, to=to, source=x, **sizes, matrix=W.at, bias=bias, stride=W.stride, add=add)
        return to

    def step(
        self, run: int, widths: Any, scratch: int, operands: Sequence[tuple[int | None, int | None]]
    ) -> None:
        """The printed step of a formula; each operand is a buffer, or an address."""
        places = (_int * len(operands))(*(_FIXED if buffer is None else buffer for buffer, _ in operands))
        fixed = (_pointer * len(operands))(*(at for _, at in operands))
        addresses = [ctypes.addressof(each) for each in (widths, places, fixed)]
        made = _FormulaStep(run, *addresses, len(operands), scratch)
        self.kept += [widths, places, fixed, made]
        self.scratch = max(self.scratch, scratch)
        self._add(kind=STEP, matrix=ctypes.addressof(made))

    def sum(self, a: int, b: int, to: int | None = None, *, tanh: bool = False) -> int:
        """a + b, or tanh(a + b)."""
        to, kind = self.buffer(self.widths[a]) if to is None else to, TANH if tanh else ADD
        self._add(kind=kind, to=to, source=a, beside=b, width=self.widths[a])
        return to

    def weigh(self, query: int, weights: int, *, scale: float, v: int | None) -> None:
        """Where a query looks: the softmax of its scores, which are additive with a v, else dot products."""
        self._add(kind=WEIGH, to=weights, source=query, matrix=v, scale=scale)

    def find(self, weights: int, reader: int, width: int) -> int:
        """What is found there, as one of the two readers sees it."""
        to = self.buffer(width)
        self._add(kind=FIND, to=to, source=weights, beside=reader)
        return to

    def finish(self, samples: Sequence[WeightSample] = ()) -> StepProgram:
        """The program so far; where samples have changed, it says so instead of running (`Outdated`)."""
        return StepProgram(self, samples)

    def _add(self, *, to: int = -1, source: int = -1, **rest: Any) -> None:
        self.instructions.append(_Instruction(to=to, source=source, **rest))


class StepProgram:
    """A program that can be run; any number of threads may do so at once."""

    def __init__(self, builder: ProgramBuilder, samples: Sequence[WeightSample]) -> None:
        count, widths = len(builder.instructions), (_int * len(builder.widths))(*builder.widths)
        instructions = (_Instruction * count)(*builder.instructions)
        sampled = (WeightSample * len(samples))(*samples)
        self._kept = [builder.kept, instructions, widths, sampled]
        addresses = [ctypes.addressof(each) for each in (instructions, widths, sampled)]
        sizes = len(samples), count, len(builder.widths), builder.given, builder.scratch, builder.vocabulary
        self._program = _Program(*addresses, *sizes)
        self._at, self._run = ctypes.byref(self._program), load_program_library().elman_run_program
        self._places = _pointer * builder.given

    def is_current(self) -> bool:
        """Is every number as it was of what something was made of? This reads them all, a run only samples."""
        return bool(load_program_library().elman_is_current(self._at))

    def __call__(
        self,
        rows: int,
        given: Sequence[int],
        tokens: int | None,
        threads: int,
        parallel: int,
        sources: Sources | None = None,
        source_rows: int | None = None,
    ) -> None:
        places = self._places(*given)
        at = None if sources is None else ctypes.addressof(sources)
        call = ProgramCall(ctypes.addressof(places), tokens, at, source_rows, parallel, rows, threads)
        if outcome := self._run(self._at, ctypes.byref(call)):
            kind, said = _OUTCOMES[outcome]
            raise kind(said)


@cache
def load_program_library() -> ctypes.CDLL:
    library = load_file("step_program.cpp")
    library.elman_run_program.argtypes = [_pointer, _pointer]
    library.elman_is_current.argtypes = [_pointer]
    library.elman_sum_numbers.argtypes, library.elman_sum_numbers.restype = [_pointer, _long], ctypes.c_uint64
    library.elman_pack_bfloat16.argtypes = [_int, _int, _pointer, _long, _pointer]
    return library


def pack_bfloat16(W: Matrix, allocate: Callable[[int], int]) -> Matrix | None:
    """A matrix in half the room, where all of its numbers are bfloat16; ``allocate`` gives so many bytes."""
    library = load_program_library()
    wide = library.elman_round_depth(W.depth)
    to = allocate(2 * W.width * wide)
    packed = library.elman_pack_bfloat16(W.width, W.depth, W.at, W.stride, to)
    return Matrix(to, W.width, W.depth, wide, bfloat16=True) if packed else None


def sum_numbers(at: int, numbers: int) -> int:
    """A checksum of so many floats."""
    found: int = load_program_library().elman_sum_numbers(at, numbers)
    return found
