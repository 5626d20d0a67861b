"""A cell that keeps what each of its steps read, for whoever looks at its gates afterwards."""

from __future__ import annotations

from typing import Any

from elman.cells.cell import Cell
from elman.cells.formulaic import Formulaic
from elman.cells.stacked import Residual, Stacked
from elman.shapes import Tensor
from elman.state import State

CellStep = tuple[State, tuple[Tensor, ...]]  # s_{i-1} and the projected x_i


class RecordedCell(Cell[State]):
    """A formula cell that adds what each step reads to ``steps``; no executor takes it, the loop runs it."""

    def __init__(self, cell: Formulaic) -> None:
        super().__init__()
        self.cell = cell
        self.steps: list[CellStep] = []
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def initial(self, like: Tensor) -> State:
        return self.cell.initial(like)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.cell.project(x)

    def step(self, state: State, x: tuple[Tensor, ...]) -> State:
        self.steps.append((state, x))
        return self.cell.step(state, x)

    def output(self, state: State) -> Tensor:
        return self.cell.output(state)


def record_stack(stack: Stacked) -> tuple[Stacked, list[RecordedCell]]:
    """The same stack, whose formula cells are recorded, and these; masks must be drawn already."""
    recorded: list[RecordedCell] = []

    def record(cell: Cell[Any]) -> Cell[Any]:
        if isinstance(cell, Residual):
            return Residual(record(cell.cell))
        if not isinstance(cell, Formulaic):  # it has no gates to look at
            return cell
        recorded.append(RecordedCell(cell))
        return recorded[-1]

    return Stacked([record(cell) for cell in stack.layers]), recorded
