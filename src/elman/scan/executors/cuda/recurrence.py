"""The two programs as one differentiable function of a cell's inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from elman.cells import Formulaic
from elman.scan.execution import Execution
from elman.scan.executors.cuda.program import CudaProgram, Kept, StepTable
from elman.scan.executors.recurrence import differentiate_steps, split_inputs
from elman.scan.packing import Packing
from elman.shapes import Float, Tensor
from elman.state import State


class _Run(NamedTuple):
    """What is known before the first step."""

    cell: Formulaic
    program: CudaProgram
    packed: Packing
    autocast: torch.dtype | None
    keep: bool


def run_program(
    cell: Formulaic, xs: Float[Tensor, "B T D"], state: State, execution: Execution, program: CudaProgram
) -> tuple[Tensor, State]:
    """y_{1:n} and s_n; there is at least one token."""
    packed = execution.packing(xs)
    dtype = program.shape.dtype
    tokens = packed.pack(xs.to(dtype))
    X, *masks = cell.project(tokens)
    known = _Run(cell, program, packed, execution.autocast, torch.is_grad_enabled())
    inputs = (*packed.sort(state), *cell.matrices(), *cell.unit_parameters(), *(m.to(dtype) for m in masks))
    ys, *final = _Recurrence.apply(known, tokens, X.to(dtype), *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


class _Recurrence(torch.autograd.Function):
    """Weights and states stay in their own precision outside; the kernels round what they multiply."""

    @staticmethod
    def forward(ctx: Any, known: _Run, tokens: Tensor, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        table = StepTable(known.packed, X.device)
        state, U, p, m = _prepare(known, inputs)
        X = X.contiguous()
        with torch.autocast(X.device.type, enabled=False):
            ys, end, kept = known.program.run_forward(table, X, state, U, p, m, keep=known.keep)
        if known.keep:
            ctx.known, ctx.table, ctx.counts = known, table, tuple(map(len, kept[:3]))
            given = [] if kept.values is None else [kept.values]
            ctx.save_for_backward(tokens, X, *inputs, *kept.sent, *kept.states, *kept.operands, *given)
        return ys, *(e.to(X.dtype) for e in end)

    @staticmethod
    def backward(ctx: Any, dY: Tensor, *dS: Tensor) -> tuple[Any, ...]:
        known: _Run = ctx.known
        tokens, X, *saved = ctx.saved_tensors
        inputs = saved[: len(ctx.needs_input_grad) - 3]
        if torch.is_grad_enabled():
            given = (known.cell, known.packed, known.autocast)
            return None, None, *differentiate_steps(*given, tokens, inputs, (dY, *dS))
        _, U, p, m = _prepare(known, inputs)
        each = iter(saved[len(inputs) :])
        sent, states, operands = ([next(each) for _ in range(count)] for count in ctx.counts)
        kept = Kept(sent, states, operands, next(each, None))
        ends = [d.float().contiguous() for d in dS]
        dX, d0, dU, dp = known.program.run_backward(
            ctx.table, X, dY.to(X.dtype).contiguous(), ends, kept, U, p, m
        )
        return None, None, dX, *d0, *dU, *dp, *(None for _ in m)


def _prepare(known: _Run, inputs: Any) -> tuple[list[Tensor], ...]:
    """States, matrices and per-unit parameters in float32, masks as they are; all contiguous."""
    *wide, masks = split_inputs(known.cell.formula, inputs)
    return *([t.float().contiguous() for t in part] for part in wide), [m.contiguous() for m in masks]
