"""The two kernels of a cell as programs over packed rows: what they read, what they write, one launch each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
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


@dataclass(frozen=True)
class Shape:
    """All of a cell that its kernels are printed from, but for the tiling."""

    formula: Formula
    widths: tuple[tuple[str, int], ...]
    heads: int
    dtype: torch.dtype
    bias: bool = False  # does the backward kernel add up the gradient of b?

    @property
    def details(self) -> tuple[object, ...]:
        """All but the formula."""
        return self.widths, self.heads, self.dtype, self.bias

    def plan(self, tiling: Tiling) -> KernelPlan:
        return KernelPlan(self.formula, self.widths, self.heads, tiling, self.bias)


@cache
def print_kernel(shape: Shape, tiling: Tiling, *, backward: bool, ragged: bool) -> KernelPrinter:
    kernel = BackwardKernel if backward else ForwardKernel
    return kernel(shape.plan(tiling), str(shape.dtype).removeprefix("torch."), ragged=ragged)


class Kept(NamedTuple):
    """What the forward program leaves for the way back."""

    sent: list[Tensor]  # states in 16 bits, s_0 first
    states: list[Tensor]  # in 32 bits, s_0 first
    operands: list[Tensor]  # what products multiplied that is no state
    values: Tensor | None


class Gradients(NamedTuple):
    """Of X, b (where the kernel adds it up), s_0, the matrices and the per-unit parameters."""

    X: Tensor
    bias: Tensor | None
    state: list[Tensor]
    U: list[Tensor]
    p: list[Tensor]


class StepTable:
    """Which rows take part in each step, for the kernels."""

    def __init__(self, packed: Packing, device: torch.device) -> None:
        self.packed, self.rows, self.steps = packed, packed.rows, len(packed.sizes)
        self._device, self.ragged = device, packed.index is not None

    @cached_property
    def arguments(self) -> tuple[Tensor | None, Tensor | None, int, int]:
        if not self.ragged:
            return None, None, self.rows, self.steps
        sizes = torch.tensor(self.packed.sizes, dtype=torch.int32)
        both = torch.stack((sizes, sizes.cumsum(0, dtype=torch.int32) - sizes)).to(self._device)
        return both[0], both[1], self.rows, self.steps


class Call:
    """A compiled kernel, and how it takes what is given by name: all that does not change between runs."""

    def __init__(
        self, shape: Shape, tiling: Tiling, device: torch.device, *, backward: bool, ragged: bool
    ) -> None:
        printer = print_kernel(shape, tiling, backward=backward, ragged=ragged)
        cluster = tiling.blocks if tiling.cluster else 1
        shared = printer.shared_bytes
        self.kernel = load_kernel(printer.text, printer.name, device, shared=shared, cluster=cluster)
        self.tiling, names = tiling, _name_backward(printer.plan) if backward else _name_forward(printer.plan)
        self.order = [names.index(name) for name in sorted(printer.arguments)]
        self.blocks = tiling.blocks * shape.heads
        places = count_processors(device) * tiling.resident
        self.most = max(1, places // self.blocks)  # groups at once, where they are no clusters

    def launch(self, given: Sequence[Tensor | int | None], table: StepTable, halves: int = 0) -> None:
        """``given`` in the order of `_name_forward` or `_name_backward`."""
        arguments, rows = [given[i] for i in self.order], self.tiling.rows
        groups = -(-table.rows // rows)
        once = groups if self.tiling.cluster else self.most
        for first in range(0, groups, once):
            grid = self.blocks * min(once, groups - first)
            numbers = (*table.arguments, halves, first * rows)
            self.kernel.launch(grid, THREADS, [*arguments, *numbers], cooperative=not self.tiling.cluster)


def _name_forward(plan: KernelPlan) -> list[str]:
    formula, sent, floats = plan.formula, plan.sent_states, plan.float_states
    names = ["x", "kept", *(f"h_{n}" for n in sent), *(f"v_{k}_out" for k in plan.other_products)]
    names += [f"s_{n}_out" for n in floats]
    names += [pattern.format(n) for pattern in ("s_{}_in", "end_{}") for n in formula.states]
    return [*names, *_name_weights(plan)]


def _name_backward(plan: KernelPlan) -> list[str]:
    formula, sent, others = plan.formula, plan.sent_states, plan.other_products
    names = ["x", "kept", "dy", "dx", "db_out"]
    names += (
        [f"h_{n}" for n in sent] + [f"h_{n}_pitch" for n in sent] + [f"s_{n}_kept" for n in plan.float_states]
    )
    names += [f"v_{k}_in" for k in others] + [f"v_{k}_in_pitch" for k in others]
    names += [f"dr_{k}_out" for k in range(len(plan.values.trace.products))]
    names += [pattern.format(n) for pattern in ("ds_{}_in", "ds_{}_out") for n in formula.states]
    return [*names, *(f"dp_{n}_out" for n in formula.parameters), *_name_weights(plan)]


def _name_weights(plan: KernelPlan) -> list[str]:
    formula = plan.formula
    names = [f"u_{k}" for k in range(len(plan.values.trace.products))]
    return [*names, *(f"p_{n}" for n in formula.parameters), *(f"m_{n}" for n in formula.masks)]


class CudaProgram:
    """Both directions for a shape, each with its own tiling."""

    def __init__(self, shape: Shape, forward: Tiling, backward: Tiling) -> None:
        self.shape, self.tilings = shape, (forward, backward)
        self.plans = shape.plan(forward), shape.plan(backward)
        self._calls: dict[tuple[torch.device, bool, bool], Call] = {}

    def _find_call(self, device: torch.device, *, backward: bool, ragged: bool) -> Call:
        key = (device, backward, ragged)
        if key not in self._calls:
            self._calls[key] = Call(
                self.shape, self.tilings[backward], device, backward=backward, ragged=ragged
            )
        return self._calls[key]

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
        plan, tokens = self.plans[0], len(X)
        buffers = _exchange(plan.tiling, [(table.rows * old + tokens, w) for old, w in self._sent_sizes], X)
        count = len(plan.sent_states)
        sent, values = buffers[:count], buffers[count:]
        more = X.new_empty(tokens, plan.stored_width, dtype=torch.float32) if keep else None
        widths, size = self._widths, table.rows + tokens
        floats = plan.float_states
        states = [X.new_empty(size, widths[n], dtype=torch.float32) for n in floats] if keep else []
        # Rows without a single token keep the state they came with.
        end = [s.to(X.dtype, copy=True) if table.ragged else torch.empty_like(s, dtype=X.dtype) for s in state]
        kept_states: Sequence[Tensor | None] = states or [None] * len(floats)
        call = self._find_call(X.device, backward=False, ragged=table.ragged)
        given = (X, more, *sent, *values, *kept_states, *state, *end, *plan.split_matrices(U), *p, *m)
        call.launch(given, table, int(state[0].dtype == X.dtype))
        output = plan.formula.output
        rows = sent[plan.sent_states.index(output)][table.rows :]
        return _cut(plan, output, rows), end, Kept(sent, states, values, more)

    @cached_property
    def _widths(self) -> Mapping[str, int]:
        return dict(self.shape.widths)

    @cached_property
    def _sent_sizes(self) -> list[tuple[int, int]]:
        """Of what the forward kernel sends: is s_0 before it (1 or 0), and the width."""
        plan = self.plans[0]
        states = [(1, plan.tiling.padded(plan.size[name]) * plan.heads) for name in plan.sent_states]
        others = plan.other_products
        return states + [(0, plan.tiling.padded(plan.operand_size(k)) * plan.heads) for k in others]

    @cached_property
    def _gradient_widths(self) -> list[int]:
        """Of what the backward kernel sends."""
        plan = self.plans[1]
        return [plan.padded_width(k) * plan.heads for k in range(len(plan.values.trace.products))]

    def run_backward(
        self,
        table: StepTable,
        X: Tensor,
        dY: Tensor,
        dS: Sequence[Tensor | None],
        kept: Kept,
        U: Sequence[Tensor],
        p: Sequence[Tensor],
        m: Sequence[Tensor],
    ) -> Gradients:
        plan, formula = self.plans[1], self.shape.formula
        dR = _exchange(plan.tiling, [(len(X), width) for width in self._gradient_widths], X)
        dX = dR[0] if plan.shared_gates else torch.empty_like(X)
        rows, widths = table.rows, self._widths
        d0 = [X.new_empty(rows, widths[name], dtype=torch.float32) for name in formula.states]
        dp = [X.new_empty(rows, widths[formula.gates[0]], dtype=torch.float32) for _ in p]
        pitches, others = ([t.shape[1] // plan.heads for t in some] for some in (kept.sent, kept.operands))
        db = X.new_empty(rows, X.shape[1], dtype=torch.float32) if self.shape.bias else None
        first = (X, kept.values, dY, dX, db, *kept.sent, *pitches, *kept.states, *kept.operands, *others)
        call = self._find_call(X.device, backward=True, ragged=table.ragged)
        call.launch((*first, *dR, *dS, *d0, *dp, *plan.split_matrices(U), *p, *m), table)
        dU = [self._matrix_gradient(plan, table, k, d, kept) for k, d in enumerate(dR)]
        sums = [d.sum(0) for d in dp]
        return Gradients(dX, None if db is None else db.sum(0), d0, [*plan.join_gradients(dU)], sums)

    def _matrix_gradient(self, plan: KernelPlan, table: StepTable, k: int, dR: Tensor, kept: Kept) -> Tensor:
        if k in plan.operand_states:
            buffer = kept.sent[plan.sent_states.index(plan.operand_states[k])]
            packed = table.packed
            factor = buffer[: len(dR)] if packed.index is None else buffer[packed.previous(dR.device)]
        else:
            factor = kept.operands[plan.other_products.index(plan.first_products[k])]
        columns = plan.padded_columns[k]
        spans = [(columns[name], plan.size[name]) for name in plan.names(k)]
        found = _multiply_heads(dR, factor, plan.heads)[..., : plan.operand_size(k)]
        if len(found[0]) != sum(size for _, size in spans):
            found = torch.cat([found[:, start : start + size] for start, size in spans], 1)
        return found[0] if plan.heads == 1 else found


def _exchange(tiling: Tiling, shapes: Sequence[tuple[int, int]], like: Tensor) -> list[Tensor]:
    """Buffers for what blocks send, in one piece; where readers poll, all of it is unwritten."""
    starts = [0, *accumulate(-(-rows * width // 64) * 64 for rows, width in shapes)]
    whole = like.new_empty(starts[-1], dtype=torch.int16)
    if not tiling.cluster:
        whole.fill_(-1)
    whole = whole.view(like.dtype)
    pieces = zip(shapes, starts, strict=False)
    return [whole.as_strided((rows, width), (width, 1), start) for (rows, width), start in pieces]


def _cut(plan: KernelPlan, name: str, rows: Tensor) -> Tensor:
    """Rows without the units that fill them up."""
    if plan.heads == 1:
        return rows if rows.shape[1] == plan.size[name] else rows[:, : plan.size[name]].contiguous()
    heads = rows.view(len(rows), plan.heads, -1)[..., : plan.size[name]]
    return heads.reshape(len(rows), -1)


def _multiply_heads(dR: Tensor, factor: Tensor, heads: int) -> Tensor:
    """Σ over tokens of the outer products, head by head, in float32: (heads, results, operand)."""
    if heads == 1:
        return torch.mm(dR.t(), factor, out_dtype=torch.float32)[None]
    left, right = (t.view(len(t), heads, -1).transpose(0, 1) for t in (dR, factor))
    return torch.bmm(left.transpose(1, 2), right, out_dtype=torch.float32)


@cache
def find_program(shape: Shape, forward: Tiling, backward: Tiling) -> CudaProgram:
    return CudaProgram(shape, forward, backward)


@cache
def count_processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count
