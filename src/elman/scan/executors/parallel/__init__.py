"""Cells in which each unit reads its own past alone: there is no matrix product within the recurrence.

On a CPU, rows and units run side by side in C++; on a GPU, cells that are linear in the state run over time at
once, by a parallel scan, and others by one loop. Both are printed from the trace. In other precisions, cells
that are linear in the state run by a scan in plain torch.
"""

from __future__ import annotations

from typing import Any, cast

import torch

from elman.cells import Cell, Formulaic
from elman.errors import ModelError
from elman.formula.structure import DENSE, LINEAR, find_structure
from elman.native.library import NativeError
from elman.scan.execution import Execution, Executor
from elman.scan.executors.cpu import SMALLEST
from elman.scan.executors.loop import LOOP
from elman.scan.executors.parallel.cuda_units import why_no_kernels
from elman.scan.executors.parallel.kernel_text import ELEMENTS
from elman.scan.executors.parallel.native_units import find_native_units
from elman.scan.executors.parallel.torch_scan import run_scans
from elman.scan.executors.parallel.unit_recurrence import UnitProgram, run_units
from elman.scan.executors.parallel.unit_tuning import find_cuda_units
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
    if structure.kind != LINEAR and cell.affine()[0].dtype not in ELEMENTS:
        return f"{structure.reason}, so that it runs in float32 or less"
    return None


def find_drawback(cell: Cell[Any], execution: Execution) -> str | None:
    """Why another executor is to be taken; builds the library where there is no other reason."""
    cell = cast(Formulaic, cell)
    like = cell.affine()[0]
    if like.is_cuda:
        return why_no_kernels(like.device) if like.dtype in ELEMENTS else "its kernels compute in float32"
    if like.dtype != torch.float32 or execution.autocast is not None:
        return "on a CPU it is fast in float32 alone"
    if min(cell.widths.values()) < SMALLEST:
        return f"a cell of fewer than {SMALLEST} units is not worth a library"
    try:
        find_native_units(cell.formula).library  # noqa: B018
    except NativeError as error:
        return str(error)
    return None


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    if execution.packed is None and xs.shape[1] == 1 and xs.is_cpu:
        return LOOP.run(cell, xs, state, execution)  # one step has nothing beside it
    program = _find_program(cell, execution)
    if program is not None:
        return run_units(cell, xs, state, execution, program)
    if find_structure(cell.formula).kind != LINEAR:
        raise ModelError("the parallel executor computes this cell in float32: not under autocast on a CPU")
    return run_scans(cell, xs, state, execution)


def reads_rows(cell: Cell[Any], execution: Execution) -> bool:
    return _find_program(cast(Formulaic, cell), execution) is not None


def _find_program(cell: Formulaic, execution: Execution) -> UnitProgram | None:
    """The printed program, where there is one for this device and precision."""
    like = cell.affine()[0]
    dtype = execution.autocast or like.dtype
    if like.is_cuda:
        printed = dtype in ELEMENTS and why_no_kernels(like.device) is None
        return find_cuda_units(cell.formula) if printed else None
    return find_native_units(cell.formula) if like.is_cpu and dtype == torch.float32 else None


PARALLEL = Executor("parallel", run, unsupported_reason, find_drawback, reads_rows)
