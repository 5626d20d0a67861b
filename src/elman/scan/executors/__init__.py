"""Ways to compute the same thing, and which of them runs which part of a cell, or would run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from elman.cells import Cell, Formulaic, Residual, Stacked
from elman.cells.regularization import MaskedOutput
from elman.operators import is_opaque
from elman.scan.execution import Execution, Executor
from elman.scan.executors.choice import EXECUTORS, choose_executor, rank_executors, require_known
from elman.scan.executors.codegen import CODEGEN
from elman.scan.executors.compiled import run_compiled
from elman.scan.executors.few import FEW, fits_few
from elman.scan.executors.wavefront import run_wavefront, worthwhile
from elman.scan.packing import last_position
from elman.shapes import Float, Tensor

__all__ = ["EXECUTORS", "Scanner", "choose_executor", "rank_executors", "require_known"]

ROWWISE = tuple(kind.scan_parts for kind in (Cell, Stacked, Residual, MaskedOutput))
"""What treats every token alike outside of its parts; a method of somebody else's may want (B, T, D)."""

Perform = Callable[[Executor, Cell[Any], Tensor, Any], tuple[Tensor, Any]]


class Scanner:
    """A `PartScanner`: runs a compound by its parts, and each part by the executor that is chosen for it."""

    def __init__(self, execution: Execution, perform: Perform | None = None) -> None:
        self.execution, self._given = execution, perform
        self.perform = perform or (lambda executor, *run: executor.run(*run, execution))

    def __call__(self, cell: Cell[Any], xs: Tensor, state: Any) -> tuple[Tensor, Any]:
        opaque = is_opaque()
        if opaque and isinstance(cell, Formulaic):
            return run_compiled(cell, xs, state, self.execution)
        if opaque or self.execution.executor != "loop":
            if isinstance(cell, Stacked) and worthwhile(cell, xs, self.execution):
                return run_wavefront(cell.layers, xs, state, self._step_by_step())
            if self.execution.packed is not None and type(cell).scan_parts not in ROWWISE:
                return self._run_unpacked(cell, xs, state)
            parts = cell.scan_parts(xs, state, self)
            if parts is not None:
                return parts
        executor = FEW if fits_few(cell, xs, self.execution) else choose_executor(cell, self.execution)
        if self.execution.packed is not None and not executor.reads_rows(cell, self.execution):
            return self._run_unpacked(cell, xs, state)
        return self.perform(executor, cell, xs, state)

    def _run_unpacked(self, cell: Cell[Any], rows: Float[Tensor, "N D"], state: Any) -> tuple[Tensor, Any]:
        """For cells that want to see (B, T, D)."""
        packed = self.execution.packed
        assert packed is not None
        run = Scanner(replace(self.execution, packed=None, lookup=None), self._given)
        ys, end = run(cell, packed.unpack(rows), state)
        return packed.pack(ys), end

    def _step_by_step(self) -> Scanner:
        """The same, all parts of a formula by steps."""
        return Scanner(replace(self.execution, executor=CODEGEN.name), self._given)

    def spread(self, rows: Tensor) -> Tensor:
        packed = self.execution.packed
        return rows[:, None] if packed is None else rows.index_select(0, packed.row_of_token)

    def last(self, ys: Tensor, before: Tensor) -> Tensor:
        mask, reverse, packed = self.execution.mask, self.execution.reverse, self.execution.packed
        if packed is not None:
            place = packed.last_tokens(reverse=reverse)
            return torch.where(place[:, None] < 0, before, ys[place.clamp(min=0)])
        if ys.shape[1] == 0:
            return before
        if mask is None:
            return ys[:, 0 if reverse else -1]
        place = last_position(mask, reverse=reverse)
        end = ys[torch.arange(len(ys), device=ys.device), place]
        return torch.where(mask.any(1)[:, None], end, before)
