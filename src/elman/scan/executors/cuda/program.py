"""The two kernels of a cell as programs over packed rows: what they read, what they write, one launch each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil
from typing import NamedTuple

import torch

from elman.formula import Formula
from elman.scan.executors.cuda.backward_kernel import BackwardKernel
from elman.scan.executors.cuda.forward_kernel import ForwardKernel
from elman.scan.executors.cuda.kernel_plan import KernelPlan
from elman.scan.executors.cuda.kernel_printer import KernelPrinter
from elman.scan.executors.cuda.launch import load_kernel
from elman.scan.executors.cuda.tiling import THREADS, Tiling
from elman.scan.packing import Packing
from elman.shapes import Tensor

Arguments = Mapping[str, Tensor | int | None]


@dataclass(frozen=True)
class Shape:
    """All of a cell that its kernels are printed from, but for the tiling."""

    formula: Formula
    widths: tuple[tuple[str, int], ...]
    heads: int
    dtype: torch.dtype

    def plan(self, tiling: Tiling) -> KernelPlan:
        return KernelPlan(self.formula, self.widths, self.heads, tiling)


@cache
def print_kernel(shape: Shape, tiling: Tiling, *, backward: bool) -> KernelPrinter:
    kernel = BackwardKernel if backward else ForwardKernel
    return kernel(shape.plan(tiling), str(shape.dtype).removeprefix("torch."))


class Kept(NamedTuple):
    """What the forward program leaves for the way back."""

    sent: list[Tensor]  # states in 16 bits, s_0 first
    states: list[Tensor]  # in 32 bits, s_0 first
    operands: list[Tensor]  # what products multiplied that is no state
    values: Tensor | None


class StepTable:
    """Which rows take part in each step, for the kernels."""

    def __init__(self, packed: Packing, device: torch.device) -> None:
        self.packed, self.rows, self.steps = packed, packed.rows, len(packed.sizes)
        self._device = device

    @cached_property
    def arguments(self) -> tuple[Tensor | None, Tensor | None, int, int]:
        if self.packed.index is None:
            return None, None, self.rows, self.steps
        sizes = torch.tensor(self.packed.sizes, dtype=torch.int32)
        both = torch.stack((sizes, sizes.cumsum(0, dtype=torch.int32) - sizes)).to(self._device)
        return both[0], both[1], self.rows, self.steps


class CudaProgram:
    """Both directions for a shape, each with its own tiling."""

    def __init__(self, shape: Shape, forward: Tiling, backward: Tiling) -> None:
        self.shape, self.tilings = shape, (forward, backward)

    def run_forward(
        self,
        table: StepTable,
        X: Tensor,
        state: Sequence[Tensor],
        U: Sequence[Tensor],
        p: Sequence[Tensor],
        m: Sequence[Tensor],
        *,
        keep: bool,
    ) -> tuple[Tensor, list[Tensor], Kept]:
        """y of all tokens, s_n and what was kept, from W x + b in 16 bits and all else in 32."""
        printer = print_kernel(self.shape, self.tilings[0], backward=False)
        plan, formula, tokens = printer.plan, self.shape.formula, len(X)
        widths = [self._padded(plan, name) for name in plan.sent_states]
        operands = [plan.tiling.padded(plan.operand_size(k)) * plan.heads for k in self._operands(plan)]
        shapes = [(table.rows + tokens, w) for w in widths] + [(tokens, w) for w in operands]
        buffers = self._exchange(plan.tiling, shapes, X)
        sent, values = buffers[: len(widths)], buffers[len(widths) :]
        more = X.new_empty(tokens, plan.stored_width, dtype=torch.float32) if keep else None
        states = [
            X.new_empty(table.rows + tokens, dict(plan.widths)[name], dtype=torch.float32)
            for name in plan.float_states
            if keep
        ]
        end = [s.clone() for s in state]
        given: dict[str, Tensor | int | None] = {"x": X, "kept": more}
        given |= _name("h_{}", plan.sent_states, sent) | _name("s_{}_in", formula.states, state)
        given |= _name("end_{}", formula.states, end) | _name("p_{}", formula.parameters, p)
        given |= _name("s_{}_out", plan.float_states, states or [None] * len(plan.float_states))
        given |= _name("v_{}_out", map(str, self._operands(plan)), values)
        given |= _name("m_{}", formula.masks, m) | _name("u_{}", map(str, range(len(U))), U)
        self._launch(printer, given, table, X.device)
        output = self._cut(plan, formula.output, sent[plan.sent_states.index(formula.output)][table.rows :])
        return output, end, Kept(sent, states, values, more)

    def run_backward(
        self,
        table: StepTable,
        X: Tensor,
        dY: Tensor,
        dS: Sequence[Tensor],
        kept: Kept,
        U: Sequence[Tensor],
        p: Sequence[Tensor],
        m: Sequence[Tensor],
    ) -> tuple[Tensor, list[Tensor], list[Tensor], list[Tensor]]:
        """The gradients of X, s_0, U and p."""
        printer = print_kernel(self.shape, self.tilings[1], backward=True)
        plan, formula, tokens = printer.plan, self.shape.formula, len(X)
        products = range(len(plan.values.trace.products))
        shapes = [(tokens, plan.padded_width(k) * plan.heads) for k in products]
        dR = self._exchange(plan.tiling, shapes, X)
        dX = dR[0] if plan.shared_gates else torch.empty_like(X)
        d0 = [torch.empty_like(d) for d in dS]
        units = dict(plan.widths)[formula.gates[0]]
        dp = [X.new_empty(table.rows, units, dtype=torch.float32) for _ in p]
        given: dict[str, Tensor | int | None] = {"x": X, "kept": kept.values, "dy": dY, "dx": dX}
        given |= _name("h_{}", plan.sent_states, kept.sent) | _name("ds_{}_in", formula.states, dS)
        given |= _name("h_{}_pitch", plan.sent_states, [len(t[0]) // plan.heads for t in kept.sent])
        given |= _name("s_{}_kept", plan.float_states, kept.states) | _name("p_{}", formula.parameters, p)
        operands = [*map(str, self._operands(plan))]
        given |= _name("v_{}_in", operands, kept.operands)
        given |= _name("v_{}_in_pitch", operands, [t.shape[1] // plan.heads for t in kept.operands])
        given |= _name("m_{}", formula.masks, m) | _name("u_{}", map(str, products), U)
        given |= _name("dr_{}_out", map(str, products), dR) | _name("ds_{}_out", formula.states, d0)
        given |= _name("dp_{}_out", formula.parameters, dp)
        self._launch(printer, given, table, X.device)
        dU = [self._matrix_gradient(plan, table, k, dR[k], kept) for k in products]
        return dX, d0, dU, [d.sum(0) for d in dp]

    def _launch(self, printer: KernelPrinter, given: Arguments, table: StepTable, device: torch.device) -> None:
        tiling = printer.tiling
        kernel = load_kernel(
            printer.text,
            printer.name,
            device,
            shared=printer.shared_bytes,
            cluster=tiling.blocks if tiling.cluster else 1,
        )
        arguments = [given[name] for name in sorted(printer.arguments)]
        blocks, groups = tiling.blocks * self.shape.heads, ceil(table.rows / tiling.rows)
        once = groups if tiling.cluster else max(1, count_processors(device) // blocks)
        for first in range(0, groups, once):
            grid = blocks * min(once, groups - first)
            numbers = (*table.arguments, first * tiling.rows)
            kernel.launch(grid, THREADS, [*arguments, *numbers], cooperative=not tiling.cluster)

    @staticmethod
    def _operands(plan: KernelPlan) -> list[int]:
        """The products whose factor is no state."""
        return [k for k in range(len(plan.values.trace.products)) if k not in plan.operand_states]

    @staticmethod
    def _exchange(tiling: Tiling, shapes: Sequence[tuple[int, int]], like: Tensor) -> list[Tensor]:
        """Buffers for what blocks send, in one piece; where readers poll, all of it is unwritten."""
        counts = [ceil(rows * width / 64) * 64 for rows, width in shapes]
        whole = like.new_empty(sum(counts), dtype=torch.int16)
        if not tiling.cluster:
            whole.fill_(-1)
        pieces = zip(whole.view(like.dtype).split(counts), shapes, strict=True)
        return [piece[: rows * width].view(rows, width) for piece, (rows, width) in pieces]

    @staticmethod
    def _padded(plan: KernelPlan, name: str) -> int:
        return plan.tiling.padded(plan.size[name]) * plan.heads

    @staticmethod
    def _cut(plan: KernelPlan, name: str, rows: Tensor) -> Tensor:
        """Rows without the units that fill them up."""
        heads = rows.view(len(rows), plan.heads, -1)[..., : plan.size[name]]
        return heads.reshape(len(rows), -1)

    def _matrix_gradient(
        self, plan: KernelPlan, table: StepTable, k: int, dR: Tensor, kept: Kept
    ) -> Tensor:
        if k in plan.operand_states:
            buffer = kept.sent[plan.sent_states.index(plan.operand_states[k])]
            packed = table.packed
            factor = buffer[: len(dR)] if packed.index is None else buffer[packed.previous(dR.device)]
        else:
            factor = kept.operands[self._operands(plan).index(k)]
        columns = plan.padded_columns(k)
        spans = [(columns[name], plan.size[name]) for name in plan.names(k)]
        found = _multiply_heads(dR, factor, plan.heads)[..., : plan.operand_size(k)]
        if len(found[0]) != sum(size for _, size in spans):
            found = torch.cat([found[:, start : start + size] for start, size in spans], 1)
        return found[0] if plan.heads == 1 else found


def _multiply_heads(dR: Tensor, factor: Tensor, heads: int) -> Tensor:
    """Σ over tokens of the outer products, head by head, in float32: (heads, results, operand)."""
    if heads == 1:
        return torch.mm(dR.t(), factor, out_dtype=torch.float32)[None]
    left, right = (t.view(len(t), heads, -1).transpose(0, 1) for t in (dR, factor))
    return torch.bmm(left.transpose(1, 2), right, out_dtype=torch.float32)


def _name(pattern: str, names, values) -> dict:  # type: ignore[no-untyped-def,type-arg]
    return {pattern.format(name): value for name, value in zip(names, values, strict=True)}


@cache
def count_processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count
