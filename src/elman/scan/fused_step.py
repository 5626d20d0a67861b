"""A step of decoding as few kernels: elementwise operations in succession become one while it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from elman.cells import Cell, Formulaic, OutputWrapper, RecordedCell, Residual, Stacked
from elman.cuda_graph import is_recording
from elman.scan.executors.codegen.fusion_check import fuse_kernels, fusion_works
from elman.shapes import Tensor

_FEW = 512  # rows: of more, kernels take so long that to find out which go together is not worth it

TokenStep = Callable[[Any, Tensor], tuple[Any, Tensor]]  # a state and tokens to a state and logits


def fuse_step(step: TokenStep) -> TokenStep:
    """The same step, with fewer kernels within a recording on a GPU."""

    def run(state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        few = tokens.is_cuda and len(tokens) <= _FEW
        fused = few and is_recording() and fusion_works(tokens.device)
        with fuse_kernels(fused):
            return step(state, tokens)

    return run


def unrecordable_reason(cell: Cell[Any]) -> str | None:
    """Why steps of a cell cannot be recorded: code may do anything in Python, a formula does not."""
    if isinstance(cell, Stacked):
        return next(filter(None, map(unrecordable_reason, cell.layers)), None)
    while isinstance(cell, OutputWrapper | RecordedCell | Residual):
        cell = cell.cell
    return None if isinstance(cell, Formulaic) else f"{type(cell).__name__} is a cell of code, not a formula"
