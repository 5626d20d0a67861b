"""Which executor runs a cell that has no parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elman.cells import Cell
from elman.errors import ModelError
from elman.scan.execution import Execution, Executor
from elman.scan.executors.codegen import CODEGEN
from elman.scan.executors.cpu import CPU
from elman.scan.executors.cuda import CUDA
from elman.scan.executors.loop import LOOP
from elman.scan.executors.parallel import PARALLEL
from elman.scan.executors.torch_kernels import TORCH
from elman.second_derivatives import needs_plain_form

EXECUTORS: dict[str, Executor] = {one.name: one for one in (PARALLEL, CPU, CUDA, TORCH, CODEGEN, LOOP)}
"""By the names that a user may ask for, the fastest first."""


def require_known(name: str) -> None:
    if not isinstance(name, str) or name not in ("auto", *EXECUTORS):
        raise ModelError(f"unknown executor {name!r}; it may be 'auto', {', '.join(map(repr, EXECUTORS))}")


def choose_executor(cell: Cell[Any], execution: Execution) -> Executor:
    """The one asked for, or the first that runs the cell without a drawback; under `torch.func` the loop."""
    if execution.executor == "auto":
        *_, (executor, _) = rank_executors(cell, execution)
        return executor
    executor = EXECUTORS[execution.executor]
    reason = executor.unsupported_reason(cell)
    if reason is not None:
        raise ModelError(f"the {executor.name} executor cannot run this cell: {reason}")
    return LOOP if needs_plain_form() else executor


def rank_executors(cell: Cell[Any], execution: Execution) -> Iterator[tuple[Executor, str | None]]:
    """The executors in order, each with why it is passed over, up to the one that is taken."""
    for executor in EXECUTORS.values():
        reason = executor.unsupported_reason(cell)
        if reason is None and executor.name != LOOP.name and needs_plain_form():
            reason = "torch.func transforms plain steps only"
        if reason is None:
            reason = executor.drawback(cell, execution)
        yield executor, reason
        if reason is None:
            return
