"""A recurrence of single units as one differentiable function of a cell's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch

from elman.cells import Formulaic
from elman.cells.formulaic import GivenWeights
from elman.scan.execution import Execution
from elman.scan.executors.parallel.unit_values import UnitGradients, UnitInputs, UnitResults
from elman.scan.executors.recurrence import split_inputs
from elman.scan.packing import Segments
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Tensor
from elman.state import State, keep


@runtime_checkable
class UnitProgram(Protocol):
    """Forward and backward of one formula."""

    def read(self, given: UnitInputs, *, keep: bool) -> UnitResults: ...

    def give_back(
        self, given: UnitInputs, results: UnitResults, dY: Tensor, dS: Sequence[Tensor]
    ) -> UnitGradients: ...


class _UnitRun(NamedTuple):
    """What is known before the first step."""

    cell: Formulaic
    program: UnitProgram
    segments: Segments
    reverse: bool
    keep: bool


def run_units(
    cell: Formulaic,
    xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"],
    state: State,
    execution: Execution,
    program: UnitProgram,
) -> tuple[Tensor, State]:
    """y_{1:n} and s_n by a program."""
    segments, moves = execution.segments(xs), execution.segment_moves
    dtype = execution.autocast or cell.affine()[0].dtype
    if not segments.tokens:
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    x = xs.to(dtype)
    X, *masks = cell.project(segments.pack(x) if moves is None else x.index_select(0, moves[0]))
    inputs = [t.float() for t in (*state, *cell.unit_parameters(), *masks)]
    known = _UnitRun(cell, program, segments, execution.reverse, torch.is_grad_enabled())
    ys, *final = _UnitRecurrence.apply(known, X.to(dtype), *inputs)  # type: ignore[no-untyped-call]
    new = State(**dict(zip(cell.formula.states, (t.to(dtype) for t in final), strict=True)))
    return segments.unpack(ys) if moves is None else ys.index_select(0, moves[1]), new


class _UnitRecurrence(torch.autograd.Function):
    """The program as a function of X (N, G·H), s_0, the per-unit parameters and the masks."""

    @staticmethod
    def forward(ctx: Any, known: _UnitRun, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
        given = _gather(known, X, inputs)
        results = known.program.read(given, keep=known.keep)
        ctx.known, ctx.names = known, [*results.kept]
        ctx.save_for_backward(X, *inputs, results.Y, *results.kept.values())
        return results.Y, *results.final

    @staticmethod
    def backward(ctx: Any, dY: Tensor, *dS: Tensor) -> tuple[Any, ...]:
        known: _UnitRun = ctx.known
        X, *saved = ctx.saved_tensors
        count = len(saved) - 1 - len(ctx.names)
        inputs, (Y, *kept) = saved[:count], saved[count:]
        if torch.is_grad_enabled():
            plain = lambda *each: _step_plainly(known, *each)  # noqa: E731
            return None, *differentiate_plainly(plain, (X, *inputs), (dY, *dS))
        results = UnitResults(Y, [], dict(zip(ctx.names, kept, strict=True)))
        given = _gather(known, X, inputs)
        found = known.program.give_back(given, results, dY, dS)
        return None, found.X, *found.state, *found.units, *(None for _ in given.masks)


def _gather(known: _UnitRun, X: Tensor, inputs: Sequence[Tensor]) -> UnitInputs:
    state, _, units, masks = split_inputs(known.cell.formula, inputs)
    segments = known.segments
    return UnitInputs(X.contiguous(), state, units, masks, segments.starts, segments.steps, known.reverse)


def _step_plainly(known: _UnitRun, X: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    """The same by plain steps, which can be differentiated again."""
    formula, segments = known.cell.formula, known.segments
    parts, _, units, masks = split_inputs(formula, [t.to(X.dtype) for t in inputs])
    state = State(**dict(zip(formula.states, parts, strict=True)))
    given = GivenWeights(known.cell, [], units)
    each = [segments.unpack(t) for t in (X, *masks)]
    there = segments.unpack(torch.ones_like(X[:, :1]))[..., 0].bool()
    ys: dict[int, Tensor] = {}
    steps = range(segments.steps)
    for t in reversed(steps) if known.reverse else steps:
        new = given.step(state, tuple(x[:, t] for x in each))
        state = keep(there[:, t], new, state)
        ys[t] = given.output(new)
    y = segments.pack(torch.stack([ys[t] for t in steps], 1))
    return y, *state
