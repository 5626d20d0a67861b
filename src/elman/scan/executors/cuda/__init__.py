"""Any formula as one CUDA kernel for the whole sequence, printed from its trace, in 16-bit products.

The recurrent weights stay on the chip from the first step to the last; blocks of threads exchange what they
multiply. States and gates are computed in float32. docs/gpu.md reads such a kernel line by line.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, cast

import torch

from elman.cells import Cell, Formulaic
from elman.errors import ModelError
from elman.formula import Formula
from elman.formula.operation import OPS
from elman.scan.execution import ELSEWHERE, Execution, Executor
from elman.scan.executors.cuda.contest import is_torch_faster
from elman.scan.executors.cuda.kernel_recurrence import run_program
from elman.scan.executors.cuda.nvrtc import CudaError, load_nvrtc
from elman.scan.executors.cuda.program import Shape, find_program
from elman.scan.executors.cuda.tuning import choose_tilings
from elman.shapes import Float, Tensor
from elman.state import State

HALVES = (torch.float16, torch.bfloat16)
_log = logging.getLogger("elman")


def unsupported_reason(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    like = cell.affine()[0]
    if not like.is_cuda:
        return ELSEWHERE
    if like.dtype == torch.float64:
        return "it multiplies in 16 bits, and this cell computes in float64"
    return _why_not_printed(cell.formula) or _why_not_here(like.device)


@cache
def _why_not_printed(formula: Formula) -> str | None:
    if not formula.trace.products:
        return "the formula has no matrix product to keep on the chip"
    whole = next((a.op for a in formula.trace.nodes if a.operands and not OPS[a.op].c), None)
    return None if whole is None else f"{whole} takes all units at once"


@cache
def _why_not_here(device: torch.device) -> str | None:
    major, minor = torch.cuda.get_device_capability(device)
    if major < 8:
        return f"it needs compute capability 8.0, and this GPU has {major}.{minor}"
    try:
        load_nvrtc()
    except CudaError as error:
        return str(error)
    return None


def find_drawback(cell: Cell[Any], execution: Execution) -> str | None:
    cell = cast(Formulaic, cell)
    if _find_dtype(cell, execution) not in HALVES:
        return "it multiplies in 16 bits, which autocast to float16 or bfloat16 asks for"
    shape, device = shape_of(cell, execution), cell.affine()[0].device
    if choose_tilings(shape, int(execution.rows), device) is None:
        _log_once(f"{cell.formula.name}: the weights do not fit on the chip; taken by another executor")
        return "the recurrent weights do not fit on the chip"
    if is_torch_faster(cell, shape, execution):
        return "PyTorch's kernel was faster for this shape when both were measured"
    return None


@cache
def _log_once(sentence: str) -> None:
    _log.info(sentence)


def _find_dtype(cell: Formulaic, execution: Execution) -> torch.dtype:
    return execution.autocast or cell.affine()[0].dtype


def shape_of(cell: Formulaic, execution: Execution) -> Shape:
    plain = not cell.formula.masks and not cell.mixes_input  # X is W x + b
    bias = plain and cell.affine()[1] is not None
    return Shape(cell.formula, tuple(cell.widths.items()), cell.heads, _find_dtype(cell, execution), bias)


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    shape = shape_of(cell, execution)
    if shape.dtype not in HALVES:
        raise ModelError("the cuda executor multiplies in 16 bits: under autocast to float16 or bfloat16")
    if not sum(execution.packing(xs).sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    tilings = choose_tilings(shape, xs.shape[0], xs.device)
    if tilings is None:
        raise ModelError("the cuda executor cannot run this cell: its weights do not fit on the chip")
    return run_program(cell, xs, state, execution, find_program(shape, *tilings))


CUDA = Executor("cuda", run, unsupported_reason, find_drawback)
