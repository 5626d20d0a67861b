"""Ways to compute the same thing, and which of them runs which part of a cell, or would run it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from elman.cells import Cell, Stacked
from elman.errors import ModelError
from elman.scan.execution import Execution, Executor
from elman.scan.executors.codegen import CODEGEN
from elman.scan.executors.loop import LOOP
from elman.scan.executors.torch_kernels import TORCH
from elman.scan.executors.wavefront import run_wavefront, worthwhile
from elman.scan.packing import last_position
from elman.shapes import Tensor

Perform = Callable[[Executor, Cell[Any], Tensor, Any], tuple[Tensor, Any]]

EXECUTORS: dict[str, Executor] = {one.name: one for one in (TORCH, CODEGEN, LOOP)}
"""By the names that a user may ask for, the fastest first."""


def require_known(name: str) -> None:
    if name not in ("auto", *EXECUTORS):
        raise ModelError(f"unknown executor {name!r}; it may be 'auto', {', '.join(map(repr, EXECUTORS))}")


class Scanner:
    """A `PartScanner`: runs a compound by its parts, and each part by the executor that is chosen for it."""

    def __init__(self, execution: Execution, perform: Perform | None = None) -> None:
        self.execution = execution
        self.perform = perform or (lambda executor, *run: executor.run(*run, execution))

    def __call__(self, cell: Cell[Any], xs: Tensor, state: Any) -> tuple[Tensor, Any]:
        if self.execution.executor != "loop":
            if isinstance(cell, Stacked) and worthwhile(cell, xs, self.execution):
                return run_wavefront(cell.layers, xs, state, self)
            parts = cell.scan_parts(xs, state, self)
            if parts is not None:
                return parts
        return self.perform(choose_executor(cell, self.execution), cell, xs, state)

    def last(self, ys: Tensor, before: Tensor) -> Tensor:
        mask, reverse = self.execution.mask, self.execution.reverse
        if ys.shape[1] == 0:
            return before
        if mask is None:
            return ys[:, 0 if reverse else -1]
        place = last_position(mask, reverse=reverse)
        end = ys[torch.arange(len(ys), device=ys.device), place]
        return torch.where(mask.any(1)[:, None], end, before)


def choose_executor(cell: Cell[Any], execution: Execution) -> Executor:
    """The one asked for, or the first that can run the cell and is worthwhile."""
    if execution.executor == "auto":
        *_, (executor, _) = rank_executors(cell, execution)
        return executor
    executor = EXECUTORS[execution.executor]
    reason = executor.unsupported_reason(cell)
    if reason is not None:
        raise ModelError(f"the {executor.name} executor cannot run this cell: {reason}")
    return executor


def rank_executors(cell: Cell[Any], execution: Execution) -> Iterator[tuple[Executor, str | None]]:
    """The executors in order, each with why it is passed over, up to the one that is taken."""
    for executor in EXECUTORS.values():
        reason = executor.unsupported_reason(cell)
        if reason is None and not executor.worthwhile(cell, execution):
            reason = executor.drawback
        yield executor, reason
        if reason is None:
            return
