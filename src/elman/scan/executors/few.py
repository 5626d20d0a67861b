"""A short text, or a few of them: steps in C++ that read the weights where they lie, without gradients.

To lay weights out, as all other executors do at each call, takes longer than to read them a few dozen times.
"""

from __future__ import annotations

from typing import Any, cast

from elman.cells import Cell, Formulaic
from elman.kernels.few_rows import can_multiply, linear_few, unsupported_reason
from elman.scan.execution import Execution, Executor
from elman.scan.few_steps import SMALLEST, find_steps
from elman.second_derivatives import needs_plain_form
from elman.shapes import Float, Tensor
from elman.state import State

__all__ = ["FEW", "SMALLEST", "fits_few", "why_not_few"]

ROWS, STEPS = 4, 256  # up to these it was seen to be the fastest


def fits_few(cell: Cell[Any], xs: Tensor, execution: Execution) -> bool:
    """Is the run so small, and of a cell that can be printed?"""
    rows, steps = xs.shape[:2]
    return (
        execution.packed is None
        and 0 < rows <= ROWS
        and 0 < steps <= STEPS
        and execution.executor == "auto"
        and isinstance(cell, Formulaic)
        and can_multiply(xs[:, 0], cell.affine()[0])
        and not needs_plain_form()
        and not execution.has_padding
        and find_steps(cell) is not None
    )


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    steps = find_steps(cell)
    assert steps is not None  # `fits_few` asked
    xs = (xs.flip(1) if execution.reverse else xs).transpose(0, 1)
    gates, *masks = project_few(cell, xs)
    states = steps(gates, masks, state, cell.matrices(), cell.unit_parameters())
    names = cell.formula.states
    ys = states[names.index(cell.formula.output)].transpose(0, 1)
    end = State(**{name: each[-1] for name, each in zip(names, states, strict=True)})
    return ys.flip(1) if execution.reverse else ys, end


def project_few(cell: Formulaic, xs: Float[Tensor, "T B D"]) -> tuple[Tensor, ...]:
    """What the steps read: the gates of x, then masks."""
    if cell.mixes_input:
        return cell.project(xs)
    W, b = cell.affine()
    return cell.step_inputs(linear_few(xs.reshape(-1, xs.shape[2]), W, b).view(*xs.shape[:2], len(W)))


def why_not_few() -> str | None:
    """Why nothing runs so on this machine; None where it does."""
    return unsupported_reason()


FEW = Executor("few", run)
