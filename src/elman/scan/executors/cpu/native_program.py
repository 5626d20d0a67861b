"""A formula's C++, printed, built and called: the two programs of a recurrence on a CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import Any

import torch

from elman.formula import Formula, Node
from elman.formula.symbols import is_input
from elman.kernels.large_products import multiply_large
from elman.kernels.reused_memory import reuse_empty
from elman.native.host_threads import find_parallel
from elman.native.library import load_library
from elman.scan.executors.cpu.backward_step import BackwardStep
from elman.scan.executors.cpu.forward_step import ForwardStep
from elman.scan.executors.cpu.lane_source import LaneGroup, add_up
from elman.scan.executors.cpu.step_printer import StepPrinter
from elman.scan.executors.cpu.value_plan import ValuePlan
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


class NativeSource:
    """The C++ of a formula whose names have these classes of width, and what the program needs to call it."""

    def __init__(self, formula: Formula, classes: Mapping[str, int]) -> None:
        self.plan = ValuePlan(formula, classes)
        self.forward, self.backward = ForwardStep(self.plan), BackwardStep(self.plan)
        steps: tuple[StepPrinter, ...] = (self.forward, self.backward)
        heads = ("template <bool KEEP>\nstatic void step_forward", "static void step_backward")
        lines = ['#include "recurrence.hpp"', ""]
        for head, step in zip(heads, steps, strict=True):
            lines += [f"{head}(const Job& job, const Span& at, float* scratch) {{", *step.lines(), "}"]
        sizes = [size for step in steps for size in step.scratch().values()]
        lines += [
            "static long count_scratch(const int32_t* W, long n) {",
            f"  return n * ({add_up(sizes)});",
            "}",
        ]
        self.text = "\n".join([*lines, ""])

    @cached_property
    def library(self) -> ctypes.CDLL:
        library = load_library(self.text)
        library.elman_count_packed.restype = ctypes.c_long
        return library


@cache
def print_source(formula: Formula, classes: tuple[tuple[str, int], ...]) -> NativeSource:
    return NativeSource(formula, dict(classes))


class NativeProgram:
    """The two programs for given widths; ``keep`` says whether there will be a way back."""

    def __init__(self, source: NativeSource, widths: Sequence[int], keep: bool) -> None:
        self.source, self.plan, self.widths, self.keep = source, source.plan, widths, keep

    @property
    def program(self) -> Program:
        return self.run_forward, self.run_backward

    def run_forward(
        self, _: Any, sizes: list[int], X: Tensor, state: list[Tensor], U: list[Tensor], p: Any, m: Any
    ) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        plan, (tokens, rows) = self.plan, (len(X), len(state[0]))
        S = [reuse_empty(rows + tokens, s.shape[1]) for s in state]
        for buffer, s in zip(S, state, strict=True):
            buffer[:rows] = s
        extra = sum(1 if (w := plan.width(a)) is None else self.widths[w] for a in plan.extra)
        E = reuse_empty(tokens, extra if self.keep else 0)
        V = [reuse_empty(tokens, self._width(a)) for a in plan.operands]
        given = self._name_buffers(X, S, p, m) | {"E": E} | {f"V {i}": v for i, v in enumerate(V)}
        pieces = self._count_pieces(rows, tokens)
        for group in self.source.forward.groups:
            given[f"panel {group.number}"] = self._pack_forward(group, U[group.product], pieces)
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
        for k, product in enumerate(plan.trace.products):
            width = sum(self._sizes(product.names))
            if (shared := plan.shared_gradients(k)) is None:
                given[f"dR {k}"] = reuse_empty(tokens, width)
                dR.append(given[f"dR {k}"])
            else:
                first = sum(self._sizes(formula.gates[:shared]))
                dR.append(dX[:, first : first + width])
        units = (pieces, len(p), self._sizes(formula.gates)[0])
        given["dp"] = torch.zeros(units, dtype=torch.float64)
        for group in self.source.backward.groups:
            given[f"panel {group.number}"] = self._pack_backward(group, U[group.product], pieces)
        self._call(self.source.library.elman_backward, self.source.backward, given, sizes, rows, pieces)
        dU = [
            multiply_large(d.t(), self._operand(q.operand, X, S, V, before))
            for d, q in zip(dR, plan.trace.products, strict=True)
        ]
        turn = len(sizes) % 2  # which of the two buffers the first step wrote
        d0 = [given[f"d{turn} {name}"] for name in formula.states]
        return dX, d0, dU, [*given["dp"].sum(0).to(X.dtype)]

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
        first = sum(self._sizes(gates[: gates.index(a.args[1])]))
        return X[:, first : first + self._width(a)]

    def _name_buffers(self, X: Tensor, S: list[Tensor], p: Any, m: Any) -> dict[str, Tensor]:
        formula = self.plan.formula
        named = {"X": X} | {f"S {name}": s for name, s in zip(formula.states, S, strict=True)}
        named |= {f"p {name}": t.contiguous() for name, t in zip(formula.parameters, p, strict=True)}
        return named | {f"m {name}": t.contiguous() for name, t in zip(formula.masks, m, strict=True)}

    def _width(self, a: Node) -> int:
        return self.widths[self.plan.width(a) or 0]

    def _sizes(self, names: Sequence[str]) -> list[int]:
        return [self.widths[self.plan.classes[name]] for name in names]

    def _count_pieces(self, rows: int, tokens: int) -> int:
        """How many threads share the rows."""
        work = tokens * sum(
            sum(self._sizes(q.names)) * self._width(q.operand) for q in self.plan.trace.products
        )
        work += tokens * 20 * sum(self._sizes(self.plan.formula.gates))
        return 1 if work < _ALONE else max(1, min(torch.get_num_threads(), rows // _FEWEST, 64))

    def _pack_forward(self, group: LaneGroup, matrix: Tensor, pieces: int) -> Tensor:
        names, matrix = self.plan.trace.products[group.product].names, matrix.contiguous()
        starts = [sum(self._sizes(names[: names.index(name)])) for name in group.names]
        width = self._sizes(group.names[:1])[0]
        return self._pack(group, matrix, starts, width, matrix.shape[1], matrix.shape[1], 1, pieces)

    def _pack_backward(self, group: LaneGroup, matrix: Tensor, pieces: int) -> Tensor:
        depth, width = matrix.shape
        return self._pack(group, matrix.contiguous(), [0], width, depth, 1, width, pieces)

    def _pack(
        self,
        group: LaneGroup,
        matrix: Tensor,
        starts: list[int],
        width: int,
        depth: int,
        across: int,
        along: int,
        pieces: int,
    ) -> Tensor:
        """A matrix laid out for products: its rows from each start, or its columns."""
        library, sizes = self.source.library, (width, len(starts), group.blocks, depth)
        packed = reuse_empty(library.elman_count_packed(width, len(starts), depth))
        first = (ctypes.c_void_p * len(starts))(*(matrix.data_ptr() + 4 * s * matrix.shape[1] for s in starts))
        steps = (ctypes.c_long(across), ctypes.c_long(along))
        parallel = ctypes.c_void_p(find_parallel())
        library.elman_pack(*sizes, first, *steps, ctypes.c_void_p(packed.data_ptr()), parallel, pieces)
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
        steps = len(sizes)
        numbers = (ctypes.c_int32 * steps)(*sizes)
        offsets = (ctypes.c_int32 * steps)(*accumulate(sizes[:-1], initial=0))
        widths = (ctypes.c_int32 * len(self.widths))(*self.widths)
        buffers = (ctypes.c_void_p * len(step.buffers))(*(given[key].data_ptr() for key in step.buffers))
        pointers = [ctypes.cast(a, ctypes.c_void_p) for a in (numbers, offsets, widths, buffers)]
        function(ctypes.byref(Job(rows, steps, pieces, self.keep, *pointers, find_parallel())))
