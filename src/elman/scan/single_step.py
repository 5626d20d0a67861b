"""One step of a cell for a few rows, without gradients: what streams, samples and beams take at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from elman.cells import Cell, Dropout, Formulaic, Residual, Stacked
from elman.kernels.few_rows import can_multiply, fits, multiply_few
from elman.operators import is_opaque
from elman.scan.few_steps import PrintedSteps, find_steps
from elman.second_derivatives import needs_plain_form
from elman.shapes import Float, Tensor
from elman.state import State

MOST = 256  # rows: of more, what kernels spend on laying weights out is little


def can_step(cell: Cell[Any], rows: int) -> bool:
    """Is `step_cell` for this run? Few rows, no dropout, no gradients, nothing that looks into operations."""
    return (
        rows <= MOST
        and not cell.training
        and not torch.is_grad_enabled()
        and not torch.is_autocast_enabled("cpu")
        and not is_opaque()
        and not needs_plain_form()
    )


def step_cell(cell: Cell[Any], state: Any, x: Float[Tensor, "B D"]) -> tuple[Any, Float[Tensor, "B H"]]:
    """s_i and y_i from s_{i-1} and x_i, as `Cell.forward` computes them; where `can_step` says so."""
    if isinstance(cell, Stacked):
        new = []
        for part, old in zip(cell.layers, state, strict=True):
            after, x = step_cell(part, old, x)
            new.append(after)
        return tuple(new), x
    if isinstance(cell, Residual):
        inner, y = step_cell(cell.cell, state.inner, x)
        y = x + y
        return State(inner=inner, y=y), y
    if isinstance(cell, Dropout):
        return step_cell(cell.cell, state, x)
    if isinstance(cell, Formulaic) and cell.heads == 1:
        after = _step_formula(cell, state, x)
        return after, cell.output(after)
    after = cell.step(state, cell.project(x))
    return after, cell.output(after)


def step_gates(cell: Formulaic, state: State, x: tuple[Tensor, ...]) -> State | None:
    """The new state from what `Formulaic.project` gave, by printed C++; None where that is not for it."""
    gates, *masks = x
    steps = find_steps(cell) if can_multiply(gates, gates) else None
    return None if steps is None else _run_printed(steps, cell, state, gates, masks)


def _run_printed(
    steps: PrintedSteps, cell: Formulaic, state: State, gates: Tensor, masks: Sequence[Tensor]
) -> State:
    given = [mask[None] for mask in masks]
    new = steps(gates[None], given, state, cell.matrices(), cell.unit_parameters())
    return State(**dict(zip(cell.formula.states, [part[0] for part in new], strict=True)))


def _step_formula(cell: Formulaic, state: State, x: Tensor) -> State:
    W, b = cell.affine()
    if not fits(x, W) or cell.mixes_input:
        inputs = cell.project(x)
        return step_gates(cell, state, inputs) or cell.step(state, inputs)
    inputs = cell.step_inputs(multiply_few(x, W, b))
    steps = find_steps(cell)
    if steps is None:
        return cell.step(state, inputs)
    return _run_printed(steps, cell, state, inputs[0], inputs[1:])
