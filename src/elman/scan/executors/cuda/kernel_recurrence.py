"""The two programs as one differentiable function of a cell's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from elman.cells import Formulaic
from elman.scan.execution import Execution
from elman.scan.executors.cuda.program import CudaProgram, Kept, StepTable
from elman.scan.executors.recurrence import PlainRun, differentiate_steps, split_inputs
from elman.shapes import Float, Tensor
from elman.state import State


class _Run(NamedTuple):
    plain: PlainRun
    program: CudaProgram
    keep: bool  # will there be a way back?


def run_program(
    cell: Formulaic, xs: Float[Tensor, "B T D"], state: State, execution: Execution, program: CudaProgram
) -> tuple[Tensor, State]:
    """y_{1:n} and s_n; there is at least one token."""
    packed = execution.packing(xs)
    dtype = program.shape.dtype  # not of xs yet: its gradient would be rounded once more
    tokens = packed.pack(xs)
    X, *masks = cell.project(tokens)
    known = _Run(PlainRun(cell, packed, execution.autocast), program, torch.is_grad_enabled())
    inputs = (*packed.sort(state), *cell.matrices(), *cell.unit_parameters(), *(m.to(dtype) for m in masks))
    ys, *final = _Recurrence.apply(known, tokens, X.to(dtype), *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


class _Recurrence(torch.autograd.Function):
    """Weights and states stay in their own precision outside; the kernels round what they multiply."""

    @staticmethod
    def forward(ctx: Any, known: _Run, tokens: Tensor, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        table = StepTable(known.plain.packed, X.device)
        state, *weights = split_inputs(known.plain.cell.formula, inputs)
        X = X.contiguous()
        states = _prepare_states(state, X.dtype)
        ys, end, kept = known.program.run_forward(
            table, X, states, *_prepare_weights(*weights), keep=known.keep
        )
        if known.keep:
            ctx.known, ctx.table, ctx.counts = known, table, tuple(map(len, kept[:3]))
            given = [] if kept.values is None else [kept.values]
            ctx.save_for_backward(tokens, X, *inputs, *kept.sent, *kept.states, *kept.operands, *given)
            ctx.set_materialize_grads(False)
        return ys, *end

    @staticmethod
    def backward(ctx: Any, dY: Tensor | None, *dS: Tensor | None) -> tuple[Any, ...]:
        known: _Run = ctx.known
        tokens, X, *saved = ctx.saved_tensors
        inputs = saved[: len(ctx.needs_input_grad) - 3]
        width = known.plain.cell.output_size
        dY = X.new_zeros(len(tokens), width) if dY is None else dY
        if torch.is_grad_enabled():
            pairs = zip(dS, inputs, strict=False)
            ends = [torch.zeros_like(s, dtype=X.dtype) if d is None else d for d, s in pairs]
            return None, None, *differentiate_steps(known.plain, tokens, inputs, (dY, *ends))
        _, *weights = split_inputs(known.plain.cell.formula, inputs)
        each = iter(saved[len(inputs) :])
        sent, states, operands = ([next(each) for _ in range(count)] for count in ctx.counts)
        kept = Kept(sent, states, operands, next(each, None))
        given_ends = [None if d is None else d.to(X.dtype).contiguous() for d in dS]
        dX, d0, dU, dp = known.program.run_backward(
            ctx.table, X, dY.to(X.dtype).contiguous(), given_ends, kept, *_prepare_weights(*weights)
        )
        return None, None, dX, *d0, *dU, *dp, *(None for _ in weights[-1])


def _prepare_states(state: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """As they are where all have 16 bits, else in float32; contiguous."""
    halves = all(s.dtype == dtype for s in state)
    return [(s if halves else s.float()).contiguous() for s in state]


def _prepare_weights(U: Sequence[Tensor], p: Sequence[Tensor], m: Sequence[Tensor]) -> tuple[list[Tensor], ...]:
    """Matrices and per-unit parameters in float32, masks as they are; contiguous."""
    return *([t.float().contiguous() for t in part] for part in (U, p)), [t.contiguous() for t in m]
