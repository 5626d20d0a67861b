"""Cells in which each unit reads its own past alone: no matrix product within the recurrence.

On a CPU in float32, rows and units run side by side in C++ that is printed from the trace. Cells that are linear
in the state also run over time at once, by a parallel scan.
"""

from __future__ import annotations

from typing import Any, cast

import torch

from elman.cells import Cell, Formulaic
from elman.errors import ModelError
from elman.formula.structure import DENSE, LINEAR, find_structure
from elman.native.library import NativeError
from elman.scan.execution import Execution, Executor
from elman.scan.executors.parallel.native_units import native_units
from elman.scan.executors.parallel.torch_scan import run_scans
from elman.scan.executors.parallel.unit_recurrence import run_units
from elman.shapes import Float, Tensor
from elman.state import State


def unsupported_reason(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    structure = find_structure(cell.formula)
    if structure.kind == DENSE:
        return structure.reason
    if len({cell.widths[name] for name in (*cell.formula.gates, *cell.formula.states)}) > 1:
        return "its gates and states differ in width"
    if structure.kind != LINEAR and cell.affine()[0].dtype != torch.float32:
        return f"{structure.reason}, and such cells run in float32"
    return None


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    if not execution.places or not len(execution.segments(xs).pack(xs)):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    like = cell.affine()[0]
    if like.dtype == torch.float32 and like.is_cpu and execution.autocast is None:
        return run_units(cell, xs, state, execution, native_units(cell.formula))
    if find_structure(cell.formula).kind != LINEAR:
        raise ModelError("the parallel executor computes this cell in float32: not under autocast")
    return run_scans(cell, xs, state, execution)


def find_drawback(cell: Cell[Any], execution: Execution) -> str | None:
    """Why another executor is to be taken; builds the library where there is no other reason."""
    cell = cast(Formulaic, cell)
    try:
        native_units(cell.formula).library  # noqa: B018
    except NativeError as error:
        return str(error)
    return None


PARALLEL = Executor("parallel", run, unsupported_reason, find_drawback)
