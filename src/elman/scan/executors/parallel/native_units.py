"""The C++ of a recurrence of single units, built and called."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache, cached_property

import torch

from elman.formula import Formula
from elman.native.host_threads import find_parallel
from elman.native.library import load_library
from elman.scan.executors.parallel.native_source import UnitSource
from elman.scan.executors.parallel.unit_plan import UnitPlan
from elman.scan.executors.parallel.unit_values import UnitGradients, UnitInputs, UnitResults
from elman.shapes import Tensor

_ALONE = 40_000  # numbers of the input that one thread reads sooner than a second is woken


class _UnitJob(ctypes.Structure):
    """As in native/units.hpp."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("rows", "width", "pieces", "parts", "reverse", "keep")),
        *((name, ctypes.c_void_p) for name in ("starts", "buffers", "totals", "parallel")),
    )


class NativeUnits:
    """Forward and backward of a formula by its library, in float32 on a CPU."""

    def __init__(self, formula: Formula) -> None:
        self.plan = UnitPlan(formula)
        self.source = UnitSource(self.plan)

    @cached_property
    def library(self) -> ctypes.CDLL:
        return load_library(self.source.text)

    def read(self, given: UnitInputs, *, keep: bool) -> UnitResults:
        """All new states of the output, those that the way back needs, and the last ones."""
        formula, (tokens, width) = self.plan.formula, (len(given.X), given.state[0].shape[1])
        Y = given.X.new_empty(tokens, width)
        kept = {n: given.X.new_empty(tokens if keep else 0, width) for n in self.plan.kept}
        final = [torch.empty_like(s, memory_format=torch.contiguous_format) for s in given.state]
        buffers = self._name_inputs(given) | {"Y": Y} | {f"H {n}": t for n, t in kept.items()}
        buffers |= {f"final {n}": t for n, t in zip(formula.states, final, strict=True)}
        self._call("elman_read_units", self.source.forward.buffers, buffers, given, keep=keep)
        return UnitResults(Y, final, kept)

    def give_back(
        self, given: UnitInputs, results: UnitResults, dY: Tensor, dS: Sequence[Tensor]
    ) -> UnitGradients:
        """The gradients of everything that was given."""
        formula, plan, width = self.plan.formula, self.plan, given.state[0].shape[1]
        dX = torch.empty_like(given.X)
        d0 = [torch.empty_like(s, memory_format=torch.contiguous_format) for s in given.state]
        pieces = _count_pieces(given)
        totals = torch.zeros(pieces, len(given.units), width, dtype=torch.float64)
        buffers = self._name_inputs(given) | {"dX": dX, "dY": dY.contiguous()}
        for name, d, first in zip(formula.states, dS, d0, strict=True):
            buffers |= {f"d {name}": d.contiguous(), f"d0 {name}": first}
        for name in plan.history:
            gate = plan.find_source(name)
            source = given.X if gate else results.Y if name == formula.output else results.kept[name]
            buffers[f"H {name}"] = source[:, formula.gates.index(gate) * width :] if gate else source
        self._call("elman_return_units", self.source.backward.buffers, buffers, given, totals=totals)
        return UnitGradients(dX, d0, [*totals.sum(0).to(dX.dtype)])

    def _name_inputs(self, given: UnitInputs) -> dict[str, Tensor]:
        formula = self.plan.formula
        named = {"X": given.X}
        named |= {f"s0 {n}": t.contiguous() for n, t in zip(formula.states, given.state, strict=True)}
        named |= {f"p {n}": t.contiguous() for n, t in zip(formula.parameters, given.units, strict=True)}
        return named | {f"m {n}": t.contiguous() for n, t in zip(formula.masks, given.masks, strict=True)}

    def _call(
        self,
        function: str,
        names: Sequence[str],
        buffers: Mapping[str, Tensor],
        given: UnitInputs,
        *,
        keep: bool = False,
        totals: Tensor | None = None,
    ) -> None:
        rows, width = given.state[0].shape
        pieces = _count_pieces(given)
        parts = 1 if rows >= 2 * pieces else pieces
        pointers = (ctypes.c_void_p * len(names))(*(buffers[name].data_ptr() for name in names))
        sums = None if totals is None else totals.data_ptr()
        job = _UnitJob(rows, width, pieces, parts, given.reverse, keep)
        job.starts, job.buffers, job.totals = given.starts.data_ptr(), ctypes.addressof(pointers), sums
        job.parallel = find_parallel()
        getattr(self.library, function)(ctypes.byref(job))


def _count_pieces(given: UnitInputs) -> int:
    """How many threads share the rows."""
    return 1 if given.X.numel() < _ALONE else max(1, min(torch.get_num_threads(), 64))


@cache
def find_native_units(formula: Formula) -> NativeUnits:
    return NativeUnits(formula)
