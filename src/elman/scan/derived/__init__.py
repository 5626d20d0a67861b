"""Any formula in plain torch: the loop runs once without autograd, the way back is derived.

What is known before a loop is computed before it, what can wait is computed after it: the coefficients of the
derivative for all steps at once, one product for each matrix gradient. The two programs are printed as torch
source from the trace of the formula (``sources`` shows them) and compiled once for each formula and width.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

import torch
from torch.autograd.function import once_differentiable

from elman.cells import Cell, Formulaic
from elman.formula import Formula
from elman.recording import recorded
from elman.scan.derived.backward import backward_source
from elman.scan.derived.forward import forward_source
from elman.scan.derived.fusing import Fused
from elman.scan.derived.plan import Plan
from elman.scan.packing import Packing, packing
from elman.scan.precision import precision
from elman.shapes import Bool, Float, Tensor
from elman.state import State

Program = tuple[Callable[..., Any], Callable[..., Any]]


def refusal(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    return None


def sources(formula: Formula, widths: dict[str, int]) -> tuple[str, str]:
    """The forward and the backward program, as source code to read."""
    plan = Plan(formula, widths)
    return forward_source(plan), backward_source(plan)


@cache
def _program(formula: Formula, widths: tuple[tuple[str, int], ...]) -> Program:
    scope: dict[str, Any] = {}
    for text in sources(formula, dict(widths)):
        exec(compile(text, f"<{formula.name}>", "exec"), scope)
    return scope["forward"], scope["backward"]


def run(
    cell: Cell[Any],
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None,
    state: State,
    reverse: bool,
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    packed = packing(xs, mask, reverse)
    if not sum(packed.sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    program = _program(cell.formula, tuple(cell.widths.items()))
    dtype = precision(cell.affine()[0])
    x, *masks = cell.project(packed.pack(xs.to(dtype)))
    each = (x, *packed.sort(state), *cell.matrices(), *cell.units(), *masks)
    x, *inputs = (t.to(dtype) for t in each)
    ys, *final = _Recurrence.apply(cell.formula, program, packed, x, *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


def _fused(X: Tensor) -> AbstractContextManager[Any]:
    """Kernels of several operations where that pays."""
    if not (X.is_cuda and recorded() and find_spec("triton")):
        return nullcontext()
    from elman.scan.derived.fusing_cuda import launch

    return Fused(launch)


class _Recurrence(torch.autograd.Function):
    """The two programs as one differentiable function of x, s_0, the matrices and the parameters."""

    @staticmethod
    def forward(
        ctx: Any, formula: Formula, program: Program, packed: Packing, X: Tensor, *inputs: Tensor
    ) -> tuple[Tensor, ...]:
        state, U, p, m = _parted(formula, inputs)
        with torch.autocast(X.device.type, enabled=False), _fused(X):
            S, A, V = program[0](torch, packed.sizes, X, state, U, p, m)
        ctx.formula, ctx.program, ctx.packed = formula, program, packed
        ctx.counts = len(S), len(A), len(V)
        ctx.save_for_backward(X, *inputs, *S, *A, *V)
        y = S[formula.states.index(formula.output)][packed.rows :]
        if packed.index is None:
            return y, *(slab[-packed.rows :].clone() for slab in S)
        last = packed.last(X.device)
        return y, *(slab.index_select(0, last) for slab in S)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, dY: Tensor, *dS: Tensor) -> tuple[Any, ...]:
        packed: Packing = ctx.packed
        X, *saved = ctx.saved_tensors
        inputs = saved[: len(saved) - sum(ctx.counts)]
        _, U, p, m = _parted(ctx.formula, inputs)
        slabs = iter(saved[len(inputs) :])
        S, A, V = ([next(slabs) for _ in range(count)] for count in ctx.counts)
        if packed.index is None:
            before = lambda slab: slab[: -packed.rows]  # noqa: E731
        else:
            index = packed.previous(X.device)
            before = lambda slab: slab.index_select(0, index)  # noqa: E731
        with _fused(X):
            found = ctx.program[1](torch, packed.sizes, dY, dS, before, X, S, A, V, U, p, m)
        dX, d0, dU, dp = found
        return None, None, None, dX, *d0, *dU, *dp, *(None for _ in m)


def _parted(formula: Formula, inputs: Any) -> tuple[list[Tensor], ...]:
    """States, matrices, per-unit parameters and masks out of one flat list."""
    each = iter(inputs)
    counts = (
        len(formula.states),
        len(formula.trace.products),
        len(formula.parameters),
        len(formula.masks),
    )
    return tuple([next(each) for _ in range(count)] for count in counts)
