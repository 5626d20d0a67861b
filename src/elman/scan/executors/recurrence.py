"""Two programs, forward and backward over packed rows, as one differentiable function of a cell's inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

import torch

from elman.cells import Formulaic
from elman.cells.formulaic import GivenWeights
from elman.formula import Formula
from elman.scan.execution import Execution
from elman.scan.executors.codegen.fusion_check import fuse_kernels
from elman.scan.packing import Packing
from elman.scan.table_lookup import pack_places, project_rows
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Tensor
from elman.state import State, map_state

Program = tuple[Callable[..., Any], Callable[..., Any]]
"""``forward(torch, sizes, X, state, U, p, m)`` gives three lists of buffers, the first those of the states;
``backward(torch, sizes, dY, dS, before, X, *buffers, U, p, m)`` gives dX, dS_0, dU and dp."""


class PlainRun(NamedTuple):
    """What is known of a run before its first step, whoever computes it."""

    cell: Formulaic
    packed: Packing
    autocast: torch.dtype | None
    place: Tensor | None = None  # which of the tokens each one of the batch is; None where none stands twice


class _Run(NamedTuple):
    plain: PlainRun
    program: Program
    fused: bool


def run_program(
    cell: Formulaic,
    xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"],
    state: State,
    execution: Execution,
    program: Program,
    *,
    fused: bool = False,
) -> tuple[Tensor, State]:
    """y_{1:n} and s_n by the two programs; there is at least one token."""
    packed = execution.packing(xs)
    dtype = execution.autocast or cell.affine()[0].dtype
    tokens, place = _find_tokens(cell, xs.to(dtype), execution)
    x, *masks = _project(cell, tokens, place)
    each = (x, *packed.sort(state), *cell.matrices(), *cell.unit_parameters(), *masks)
    inputs = (t.to(dtype) for t in each)
    known = _Run(PlainRun(cell, packed, execution.autocast, place), program, fused)
    ys, *final = _Recurrence.apply(known, tokens, *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, final, strict=True)))
    return packed.unpack(ys), packed.unsort(new)


def _find_tokens(cell: Formulaic, xs: Tensor, execution: Execution) -> tuple[Tensor, Tensor | None]:
    """The packed tokens; of rows of a table those that occur, and which of them each packed token is."""
    packed, lookup = execution.packing(xs), execution.find_lookup(xs)
    if lookup is None or not lookup.is_worth_folding(cell):
        return packed.pack(xs), None
    return lookup.rows(), pack_places(lookup, packed)


def _project(cell: Formulaic, tokens: Tensor, place: Tensor | None) -> tuple[Tensor, ...]:
    return cell.project(tokens) if place is None else project_rows(cell, tokens, place)


class _Recurrence(torch.autograd.Function):
    """The two programs as one differentiable function of x, s_0, the matrices and the parameters.

    X, the projected tokens, is overwritten; the tokens are there for second derivatives alone.
    """

    @staticmethod
    def forward(ctx: Any, known: _Run, tokens: Tensor, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        formula, packed = known.plain.cell.formula, known.plain.packed
        state, U, p, m = split_inputs(formula, inputs)
        with _without_autocast(known), fuse_kernels(known.fused):
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
        packed = known.plain.packed
        tokens, X, *saved = ctx.saved_tensors
        inputs = saved[: len(saved) - sum(ctx.counts)]
        if torch.is_grad_enabled():
            return None, None, *differentiate_steps(known.plain, tokens, inputs, (dY, *dS))
        _, U, p, m = split_inputs(known.plain.cell.formula, inputs)
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


def _without_autocast(known: _Run) -> AbstractContextManager[Any]:
    """The programs say themselves what they compute in; where it is off, to turn it off would take time."""
    if known.plain.autocast is None:
        return nullcontext()
    return torch.autocast(known.plain.cell.affine()[0].device.type, enabled=False)


def differentiate_steps(
    run: PlainRun, tokens: Tensor, inputs: list[Tensor], gradients: tuple[Tensor, ...]
) -> tuple[Tensor | None, ...]:
    """The gradients of X and the inputs by way of plain steps; X is projected again, it was overwritten."""
    cell, packed, device = run.cell, run.packed, tokens.device

    def step_plainly(X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        state, U, p, m = split_inputs(cell.formula, [t.to(X.dtype) for t in inputs])
        s = State(**dict(zip(cell.formula.states, state, strict=True)))
        given, ys = GivenWeights(cell, U, p), []
        for n, *x in zip(packed.sizes, *(torch.split(each, packed.sizes) for each in (X, *m)), strict=True):
            new = given.step(map_state(itemgetter(slice(n)), s), tuple(x))
            ys.append(given.output(new))
            s = map_state(lambda a, b: torch.cat((a, b[len(a) :])), new, s)
        return torch.cat(ys), *s

    mixed = torch.autocast(device.type, run.autocast, enabled=run.autocast is not None)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), mixed:
        # Masks are drawn again and not used: those of the run are inputs.
        X, *_ = _project(cell, tokens, run.place)
    with torch.autocast(device.type, enabled=False):
        return differentiate_plainly(step_plainly, (X.to(run.autocast or tokens.dtype), *inputs), gradients)


def split_inputs(formula: Formula, inputs: Sequence[Tensor]) -> tuple[list[Tensor], ...]:
    """States, matrices, per-unit parameters and masks out of one flat list."""
    return tuple([*inputs[part]] for part in _find_parts(formula))


@cache
def _find_parts(formula: Formula) -> tuple[slice, ...]:
    counts = (len(formula.states), len(formula.trace.products), len(formula.parameters), len(formula.masks))
    ends = [*accumulate(counts)]
    return tuple(slice(end - count, end) for end, count in zip(ends, counts, strict=True))
