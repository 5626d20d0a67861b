"""The two programs as one differentiable function of a cell's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from elman.cells import Formulaic
from elman.kernels.mixed_products import multiply_plainly, multiply_sums
from elman.scan.execution import Execution
from elman.scan.executors.cuda.program import CudaProgram, Gradients, Kept, StepTable
from elman.scan.executors.recurrence import PlainRun, differentiate_steps, split_inputs
from elman.second_derivatives import differentiate_plainly
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
    packed, dtype = execution.packing(xs), program.shape.dtype
    known = _Run(PlainRun(cell, packed, execution.autocast), program, torch.is_grad_enabled())
    inputs = (*packed.sort(state), *cell.matrices(), *cell.unit_parameters())
    if program.shape.bias:
        ys, *final = _Layer.apply(known, xs, *cell.affine(), *inputs)  # type: ignore[no-untyped-call]
    else:
        tokens = packed.pack(xs)
        X, *masks = (t.to(dtype) for t in cell.project(tokens))  # not xs: its gradient would be rounded again
        ys, *final = _Recurrence.apply(known, tokens, X, *inputs, *masks)  # type: ignore[no-untyped-call]
        ys = packed.unpack(ys)
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return ys, packed.unsort(new)


class _Layer(torch.autograd.Function):
    """A batch to y_{1:n} and s_n where all that is read of the input is W x + b.

    One function, and not one for each part: small layers wait for Python, not for the GPU.
    """

    @staticmethod
    def forward(ctx: Any, known: _Run, xs: Tensor, W: Tensor, b: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        packed, dtype = known.plain.packed, known.program.shape.dtype
        tokens, weight = packed.pack(xs).to(dtype), W.to(dtype)
        X = functional.linear(tokens, weight, b.to(dtype))
        ys, end, kept = _run_forward(known, X, inputs)
        if known.keep:
            _keep(ctx, known, (xs, W, b, tokens, X), inputs, kept)
        return packed.unpack(ys), *end

    @staticmethod
    def backward(ctx: Any, dY: Tensor | None, *dS: Tensor | None) -> tuple[Any, ...]:
        known: _Run = ctx.known
        packed, (xs, W, b, tokens, X, *saved) = known.plain.packed, ctx.saved_tensors
        dY = None if dY is None else packed.pack(dY)
        if torch.is_grad_enabled():
            whole = packed.pack(xs)
            dX, *others = _differentiate_steps(known, whole, X, saved[: len(ctx.needs_input_grad) - 4], dY, dS)
            dx, dW, db = _differentiate_product(dX, whole, W, b)
            return None, None if dx is None else packed.unpack(dx), dW, db, *others
        found = _run_backward(ctx, X, saved, dY, dS)
        wanted = ctx.needs_input_grad
        dx = packed.unpack(multiply_sums(found.X, W.to(X.dtype), xs.dtype)) if wanted[1] else None
        dW = multiply_sums(found.X.t(), tokens, W.dtype) if wanted[2] else None
        return None, dx, dW, found.bias, *found.state, *found.U, *found.p


class _Recurrence(torch.autograd.Function):
    """Packed tokens to packed y and s_n; the tokens are there for second derivatives alone.

    Weights and states stay in their own precision outside; the kernels round what they multiply.
    """

    @staticmethod
    def forward(ctx: Any, known: _Run, tokens: Tensor, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        X = X.contiguous()
        ys, end, kept = _run_forward(known, X, inputs)
        if known.keep:
            _keep(ctx, known, (tokens, X), inputs, kept)
        return ys, *end

    @staticmethod
    def backward(ctx: Any, dY: Tensor | None, *dS: Tensor | None) -> tuple[Any, ...]:
        known: _Run = ctx.known
        tokens, X, *saved = ctx.saved_tensors
        if torch.is_grad_enabled():
            inputs = saved[: len(ctx.needs_input_grad) - 3]
            return None, None, *_differentiate_steps(known, tokens, X, inputs, dY, dS)
        found = _run_backward(ctx, X, saved, dY, dS)
        masks = (None for _ in known.plain.cell.formula.masks)
        return None, None, found.X, *found.state, *found.U, *found.p, *masks


def _run_forward(known: _Run, X: Tensor, inputs: Sequence[Tensor]) -> tuple[Tensor, list[Tensor], Kept]:
    table = StepTable(known.plain.packed, X.device)
    state, *weights = split_inputs(known.plain.cell.formula, inputs)
    states = _prepare_states(state, X.dtype)
    return known.program.run_forward(table, X, states, *_prepare_weights(*weights), keep=known.keep)


def _keep(ctx: Any, known: _Run, given: tuple[Tensor, ...], inputs: Sequence[Tensor], kept: Kept) -> None:
    """Save all that the way back reads: what was given, the inputs, and what the kernel kept."""
    ctx.known, ctx.counts = known, (len(inputs), *map(len, kept[:3]))
    values = [] if kept.values is None else [kept.values]
    ctx.save_for_backward(*given, *inputs, *kept.sent, *kept.states, *kept.operands, *values)
    ctx.set_materialize_grads(False)


def _run_backward(
    ctx: Any, X: Tensor, saved: Sequence[Tensor], dY: Tensor | None, dS: Sequence[Tensor | None]
) -> Gradients:
    known: _Run = ctx.known
    each = iter(saved)
    inputs, sent, states, operands = ([next(each) for _ in range(count)] for count in ctx.counts)
    kept, table = Kept(sent, states, operands, next(each, None)), StepTable(known.plain.packed, X.device)
    _, *weights = split_inputs(known.plain.cell.formula, inputs)
    ends = [None if d is None else d.to(X.dtype).contiguous() for d in dS]
    dY = _zeros_for(known, X) if dY is None else dY.to(X.dtype).contiguous()
    return known.program.run_backward(table, X, dY, ends, kept, *_prepare_weights(*weights))


def _differentiate_steps(
    known: _Run,
    tokens: Tensor,
    X: Tensor,
    inputs: Sequence[Tensor],
    dY: Tensor | None,
    dS: Sequence[Tensor | None],
) -> tuple[Any, ...]:
    """The gradients of X and the inputs, so that they can be differentiated again."""
    pairs = zip(dS, inputs, strict=False)
    ends = [torch.zeros_like(s, dtype=X.dtype) if d is None else d for d, s in pairs]
    dY = _zeros_for(known, X) if dY is None else dY
    return differentiate_steps(known.plain, tokens, [*inputs], (dY, *ends))


def _differentiate_product(
    dX: Tensor | None, tokens: Tensor, W: Tensor, b: Tensor
) -> tuple[Tensor | None, ...]:
    """The gradients of the tokens, W and b, likewise; none where X has none."""
    if dX is None:
        return None, None, None
    return differentiate_plainly(partial(multiply_plainly, dtype=dX.dtype), (tokens, W, b), (dX,))


def _zeros_for(known: _Run, X: Tensor) -> Tensor:
    """The gradient of outputs that nobody read."""
    return X.new_zeros(len(X), known.plain.cell.output_size)


def _prepare_states(state: Sequence[Tensor], dtype: torch.dtype) -> list[Tensor]:
    """As they are where all have 16 bits, else in float32; contiguous."""
    halves = all(s.dtype == dtype for s in state)
    return [(s if halves else s.float()).contiguous() for s in state]


def _prepare_weights(U: Sequence[Tensor], p: Sequence[Tensor], m: Sequence[Tensor]) -> tuple[list[Tensor], ...]:
    """Matrices and per-unit parameters in float32, masks as they are; contiguous."""
    return *([t.float().contiguous() for t in part] for part in (U, p)), [t.contiguous() for t in m]
