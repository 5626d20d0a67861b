"""The C++ of a formula, called: the two programs of a recurrence on a CPU."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch

from elman.formula import Node
from elman.formula.symbols import is_input
from elman.kernels.large_products import multiply_large
from elman.kernels.reused_memory import reuse_empty
from elman.native.host_threads import find_parallel
from elman.scan.executors.cpu.program_layout import Panel, ProgramLayout
from elman.scan.executors.cpu.step_printer import StepPrinter
from elman.scan.executors.recurrence import Program
from elman.shapes import Tensor

_FEWEST = 4  # rows that a thread takes: with fewer, its products wait for memory
_ALONE = 200_000  # multiplications that one thread does sooner than a second is woken


class Job(ctypes.Structure):
    """As in native/recurrence.hpp."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("rows", "steps", "pieces", "keep")),
        *((name, ctypes.c_void_p) for name in ("sizes", "offsets", "widths", "buffers", "parallel")),
    )


class NativeProgram:
    """The two programs for given widths; ``keep`` says whether there will be a way back."""

    def __init__(self, layout: ProgramLayout, keep: bool) -> None:
        self.layout, self.source, self.plan, self.keep = layout, layout.source, layout.plan, keep

    @property
    def program(self) -> Program:
        return self.run_forward, self.run_backward

    def run_forward(
        self, _: Any, sizes: list[int], X: Tensor, state: list[Tensor], U: list[Tensor], p: Any, m: Any
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        tokens, rows = len(X), len(state[0])
        S = [reuse_empty(rows + tokens, s.shape[1]) for s in state]
        for buffer, s in zip(S, state, strict=True):
            buffer[:rows] = s
        E = reuse_empty(tokens, self.layout.extra if self.keep else 0)
        V = [reuse_empty(tokens, width) for width in self.layout.operands]
        given = self._name_buffers(X, S, p, m) | {"E": E} | {f"V {i}": v for i, v in enumerate(V)}
        pieces = self._count_pieces(rows, tokens)
        given |= self._pack(self.layout.forward, U, pieces)
        self._call(self.source.library.elman_forward, self.source.forward, given, sizes, rows, pieces)
        return S, [E], V

    def run_backward(
        self,
        _: Any,
        sizes: list[int],
        dY: Tensor,
        dS: Sequence[Tensor],
        before: Callable[[Tensor], Tensor],
        X: Tensor,
        S: list[Tensor],
        A: list[Tensor],
        V: list[Tensor],
        U: list[Tensor],
        p: list[Tensor],
        m: list[Tensor],
    ) -> tuple[Tensor, list[Tensor], list[Tensor], list[Tensor]]:
        plan, formula, (tokens, rows) = self.plan, self.plan.formula, (len(X), len(dS[0]))
        pieces = self._count_pieces(rows, tokens)
        dX = reuse_empty(*X.shape)
        given = self._name_buffers(X, S, p, m) | {"E": A[0], "dX": dX, "dY": dY.contiguous()}
        given |= {f"V {i}": v for i, v in enumerate(V)}
        for name, d in zip(formula.states, dS, strict=True):
            given |= {f"d0 {name}": d.clone(memory_format=torch.contiguous_format)}
            given |= {f"d1 {name}": d.clone(memory_format=torch.contiguous_format)}
        dR = []
        for k, (width, shared) in enumerate(self.layout.results):
            if shared is None:
                given[f"dR {k}"] = reuse_empty(tokens, width)
            dR.append(given[f"dR {k}"] if shared is None else dX[:, shared : shared + width])
        if p:
            given["dp"] = torch.zeros(pieces, len(p), len(p[0]), dtype=torch.float64)
        given |= self._pack(self.layout.backward, U, pieces)
        self._call(self.source.library.elman_backward, self.source.backward, given, sizes, rows, pieces)
        dU = [
            multiply_large(d.t(), self._operand(q.operand, X, S, V, before))
            for d, q in zip(dR, plan.trace.products, strict=True)
        ]
        turn = len(sizes) % 2  # which of the two buffers the first step wrote
        d0 = [given[f"d{turn} {name}"] for name in formula.states]
        return dX, d0, dU, [*given["dp"].sum(0).to(X.dtype)] if p else []

    def _operand(
        self, a: Node, X: Tensor, S: list[Tensor], V: list[Tensor], before: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """What a product multiplied, for all tokens."""
        plan, states = self.plan, self.plan.formula.states
        if a in plan.operands:
            return V[plan.operands.index(a)]
        if a in plan.states:
            buffer = S[states.index(plan.states[a])]
            return buffer[len(buffer) - len(X) :]
        if is_input(a, "s"):
            return before(S[states.index(a.args[1])])
        gates = plan.formula.gates
        first = self.layout.sum_widths(gates[: gates.index(a.args[1])])
        return X[:, first : first + self.layout.width(a)]

    def _name_buffers(self, X: Tensor, S: list[Tensor], p: Any, m: Any) -> dict[str, Tensor]:
        formula = self.plan.formula
        named = {"X": X} | {f"S {name}": s for name, s in zip(formula.states, S, strict=True)}
        named |= {f"p {name}": t.contiguous() for name, t in zip(formula.parameters, p, strict=True)}
        return named | {f"m {name}": t.contiguous() for name, t in zip(formula.masks, m, strict=True)}

    def _count_pieces(self, rows: int, tokens: int) -> int:
        """How many threads share the rows."""
        alone = tokens * self.layout.work < _ALONE
        return 1 if alone else max(1, min(torch.get_num_threads(), rows // _FEWEST, 64))

    def _pack(self, panels: Sequence[Panel], U: list[Tensor], pieces: int) -> dict[str, Tensor]:
        """The matrices laid out for products."""
        packed = {}
        for panel in panels:
            matrix, memory = U[panel.group.product].contiguous(), reuse_empty(panel.count)
            first = array("Q", [matrix.data_ptr() + 4 * at for at in panel.starts])
            where = first.buffer_info()[0], *panel.steps, memory.data_ptr()
            self.source.library.elman_pack(*panel.sizes, *where, find_parallel(), pieces)
            packed[f"panel {panel.group.number}"] = memory
        return packed

    def _call(
        self,
        function: Any,
        step: StepPrinter,
        given: Mapping[str, Tensor],
        sizes: list[int],
        rows: int,
        pieces: int,
    ) -> None:
        # Of an array of ctypes the type would be made anew, which takes longer than all else here.
        offsets = array("i", accumulate(sizes[:-1], initial=0))
        buffers = array("Q", [given[key].data_ptr() for key in step.buffers])
        arrays = (array("i", sizes), offsets, array("i", self.layout.widths), buffers)
        pointers = [each.buffer_info()[0] for each in arrays]
        function(ctypes.byref(Job(rows, len(sizes), pieces, self.keep, *pointers, find_parallel())))
