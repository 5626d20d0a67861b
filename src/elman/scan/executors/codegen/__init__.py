"""Any formula in plain torch: the loop runs once without autograd, the way back is derived.

What is known before a loop is computed before it, what can wait is computed after it: the coefficients of the
derivative for all steps at once, one product for each matrix gradient. The two programs are printed as torch
source from the trace of the formula (``sources`` shows them) and compiled once for each formula and width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, cast

import torch

from elman.cells import Cell, Formulaic
from elman.cells.formulaic import GivenWeights, join_heads, split_heads
from elman.formula import Formula
from elman.scan.execution import Execution, Executor
from elman.scan.executors.codegen.backward import backward_source
from elman.scan.executors.codegen.forward import forward_source
from elman.scan.executors.codegen.fusion_check import fuse_kernels, fusion_works
from elman.scan.executors.codegen.plan import Plan
from elman.scan.packing import Packing
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Tensor
from elman.state import State, map_state

Program = tuple[Callable[..., Any], Callable[..., Any]]


class _Run(NamedTuple):
    """What is known before the first step."""

    cell: Formulaic
    program: Program
    packed: Packing
    fused: bool
    autocast: torch.dtype | None


def unsupported_reason(cell: Cell[Any]) -> str | None:
    return None if isinstance(cell, Formulaic) else f"{type(cell).__name__} has no formula"


def sources(formula: Formula, widths: Mapping[str, int], heads: int = 1) -> tuple[str, str]:
    """The forward and the backward program, as source code to read."""
    plan = Plan(formula, widths, heads)
    return forward_source(plan), backward_source(plan)


@cache
def _program(formula: Formula, widths: tuple[tuple[str, int], ...], heads: int) -> Program:
    scope: dict[str, Any] = {"split_heads": split_heads, "join_heads": join_heads}
    for text in sources(formula, dict(widths), heads):
        exec(compile(text, f"<{formula.name}>", "exec"), scope)
    return scope["forward"], scope["backward"]


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    packed = execution.packing(xs)
    if not sum(packed.sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    program = _program(cell.formula, tuple(cell.widths.items()), cell.heads)
    dtype = execution.autocast or cell.affine()[0].dtype
    fused = execution.recorded and xs.is_cuda and fusion_works(xs.device)
    tokens = packed.pack(xs.to(dtype))
    x, *masks = cell.project(tokens)
    each = (x, *packed.sort(state), *cell.matrices(), *cell.unit_parameters(), *masks)
    inputs = (t.to(dtype) for t in each)
    known = _Run(cell, program, packed, fused, execution.autocast)
    ys, *final = _Recurrence.apply(known, tokens, *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


class _Recurrence(torch.autograd.Function):
    """The two programs as one differentiable function of x, s_0, the matrices and the parameters.

    X, the projected tokens, is overwritten; the tokens are there for second derivatives alone.
    """

    @staticmethod
    def forward(ctx: Any, known: _Run, tokens: Tensor, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        formula, packed = known.cell.formula, known.packed
        state, U, p, m = _split(formula, inputs)
        with torch.autocast(X.device.type, enabled=False), fuse_kernels(known.fused):
            S, A, V = known.program[0](torch, packed.sizes, X, state, U, p, m)
        ctx.known, ctx.counts = known, (len(S), len(A), len(V))
        ctx.save_for_backward(tokens, X, *inputs, *S, *A, *V)
        y = S[formula.states.index(formula.output)][packed.rows :]
        if packed.index is None:
            return y, *(buffer[-packed.rows :].clone() for buffer in S)
        last = packed.last(X.device)
        return y, *(buffer.index_select(0, last) for buffer in S)

    @staticmethod
    def backward(ctx: Any, dY: Tensor, *dS: Tensor) -> tuple[Any, ...]:
        known: _Run = ctx.known
        packed = known.packed
        tokens, X, *saved = ctx.saved_tensors
        inputs = saved[: len(saved) - sum(ctx.counts)]
        if torch.is_grad_enabled():
            return None, None, *_differentiate_plainly(known, tokens, inputs, (dY, *dS))
        _, U, p, m = _split(known.cell.formula, inputs)
        buffers = iter(saved[len(inputs) :])
        S, A, V = ([next(buffers) for _ in range(count)] for count in ctx.counts)
        if packed.index is None:
            before = lambda buffer: buffer[: -packed.rows]  # noqa: E731
        else:
            index = packed.previous(X.device)
            before = lambda buffer: buffer.index_select(0, index)  # noqa: E731
        with fuse_kernels(known.fused):
            dX, d0, dU, dp = known.program[1](torch, packed.sizes, dY, dS, before, X, S, A, V, U, p, m)
        return None, None, dX, *d0, *dU, *dp, *(None for _ in m)


def _differentiate_plainly(
    known: _Run, tokens: Tensor, inputs: list[Tensor], gradients: tuple[Tensor, ...]
) -> tuple[Tensor | None, ...]:
    """The gradients of X and the inputs by way of plain steps; X is projected again, it was overwritten."""
    cell, packed, device = known.cell, known.packed, tokens.device

    def step_plainly(X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        state, U, p, m = _split(cell.formula, inputs)
        s = State(**dict(zip(cell.formula.states, state, strict=True)))
        given, ys = GivenWeights(cell, U, p), []
        for n, *x in zip(packed.sizes, *(torch.split(each, packed.sizes) for each in (X, *m)), strict=True):
            new = given.step(map_state(itemgetter(slice(n)), s), tuple(x))
            ys.append(given.output(new))
            s = map_state(lambda a, b: torch.cat((a, b[len(a) :])), new, s)
        return torch.cat(ys), *s

    autocast = torch.autocast(device.type, known.autocast, enabled=known.autocast is not None)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), autocast:
        X, *_ = cell.project(tokens)  # masks are drawn again and not used: those of the run are inputs
    with torch.autocast(device.type, enabled=False):
        return differentiate_plainly(step_plainly, (X.to(tokens.dtype), *inputs), gradients)


def _split(formula: Formula, inputs: Any) -> tuple[list[Tensor], ...]:
    """States, matrices, per-unit parameters and masks out of one flat list."""
    each = iter(inputs)
    counts = (len(formula.states), len(formula.trace.products), len(formula.parameters), len(formula.masks))
    return tuple([next(each) for _ in range(count)] for count in counts)


CODEGEN = Executor("codegen", run, unsupported_reason)
