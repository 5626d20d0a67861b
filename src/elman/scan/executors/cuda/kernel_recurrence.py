"""The two programs as one differentiable function of a cell's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from elman.cells import Formulaic
from elman.kernels.mixed_products import is_mixed, linear_mixed
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
    X, bias, masks = _project(cell, tokens, program.shape.bias)
    known = _Run(PlainRun(cell, packed, execution.autocast), program, torch.is_grad_enabled())
    inputs = (*packed.sort(state), *cell.matrices(), *cell.unit_parameters(), *(m.to(dtype) for m in masks))
    ys, *final = _Recurrence.apply(known, tokens, X.to(dtype), bias, *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


def _project(cell: Formulaic, tokens: Tensor, apart: bool) -> tuple[Tensor, Tensor | None, Sequence[Tensor]]:
    """W x + b, the b whose gradient the kernel adds up (``apart``), and the masks."""
    W, b = cell.affine()
    if b is None or not apart:
        X, *masks = cell.project(tokens)
        return X, None, masks
    multiply = linear_mixed if is_mixed(tokens, W) else functional.linear
    return multiply(tokens, W, b.detach()), b, ()


class _Recurrence(torch.autograd.Function):
    """Weights and states stay in their own precision outside; the kernels round what they multiply.

    The bias is in X already; it is given for its gradient.
    """

    @staticmethod
    def forward(
        ctx: Any, known: _Run, tokens: Tensor, X: Tensor, bias: Tensor | None, *inputs: Tensor
    ) -> tuple[Tensor, ...]:
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
        inputs, wants_bias = saved[: len(ctx.needs_input_grad) - 4], ctx.needs_input_grad[3]
        width = known.plain.cell.output_size
        dY = X.new_zeros(len(tokens), width) if dY is None else dY
        if torch.is_grad_enabled():
            pairs = zip(dS, inputs, strict=False)
            ends = [torch.zeros_like(s, dtype=X.dtype) if d is None else d for d, s in pairs]
            dX, *others = differentiate_steps(known.plain, tokens, inputs, (dY, *ends))
            return None, None, dX, dX.sum(0) if wants_bias and dX is not None else None, *others
        _, *weights = split_inputs(known.plain.cell.formula, inputs)
        each = iter(saved[len(inputs) :])
        sent, states, operands = ([next(each) for _ in range(count)] for count in ctx.counts)
        kept = Kept(sent, states, operands, next(each, None))
        given_ends = [None if d is None else d.to(X.dtype).contiguous() for d in dS]
        given = (X, dY.to(X.dtype).contiguous(), given_ends, kept, *_prepare_weights(*weights))
        found = known.program.run_backward(ctx.table, *given)
        masks = (None for _ in weights[-1])
        return None, None, found.X, found.bias, *found.state, *found.U, *found.p, *masks


def _prepare_states(state: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """As they are where all have 16 bits, else in float32; contiguous."""
    halves = all(s.dtype == dtype for s in state)
    return [(s if halves else s.float()).contiguous() for s in state]


def _prepare_weights(U: Sequence[Tensor], p: Sequence[Tensor], m: Sequence[Tensor]) -> tuple[list[Tensor], ...]:
    """Matrices and per-unit parameters in float32, masks as they are; contiguous."""
    return *([t.float().contiguous() for t in part] for part in (U, p)), [t.contiguous() for t in m]
