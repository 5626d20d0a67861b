"""Ways to compute the same thing, and which of them computes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elman.cells import Cell
from elman.errors import ModelError
from elman.scan.execution import Execution, Executor
from elman.scan.executors.codegen import CODEGEN
from elman.scan.executors.loop import LOOP
from elman.scan.executors.torch_kernels import TORCH

EXECUTORS: dict[str, Executor] = {one.name: one for one in (TORCH, CODEGEN, LOOP)}
"""By the names that a user may ask for, the fastest first."""


def require_known(name: str) -> None:
    if name not in ("auto", *EXECUTORS):
        raise ModelError(f"unknown executor {name!r}; it may be 'auto', {', '.join(map(repr, EXECUTORS))}")


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
