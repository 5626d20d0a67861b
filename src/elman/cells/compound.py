"""Cells around cells: a stack of cells is a cell, a residual connection is a cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

from torch import nn

from elman.cells.cell import Cell, Sweep
from elman.errors import ModelError
from elman.shapes import Tensor
from elman.state import State


class Stacked(Cell[tuple[Any, ...]]):
    """Each cell reads the output of the one below: x^{k+1}_i = O^k(s^k_i). Widths may differ."""

    def __init__(self, cells: Sequence[Cell[Any]]) -> None:
        super().__init__()
        if not cells:
            raise ModelError("a stack needs at least one cell")
        for below, above in pairwise(cells):
            if above.input_size != below.output_size:
                raise ModelError(
                    f"a cell that reads {above.input_size} features cannot stand on one "
                    f"that writes {below.output_size}"
                )
        self.cells = nn.ModuleList(cells)
        self.input_size, self.output_size = cells[0].input_size, cells[-1].output_size

    @property
    def layers(self) -> list[Cell[Any]]:
        return cast("list[Cell[Any]]", list(self.cells))

    def initial(self, like: Tensor) -> tuple[Any, ...]:
        return tuple(cell.initial(like) for cell in self.layers)

    def project(self, x: Tensor) -> Any:
        return self.layers[0].project(x)

    def step(self, state: tuple[Any, ...], x: Any) -> tuple[Any, ...]:
        new: list[Any] = []
        for k, cell in enumerate(self.layers):
            if k > 0:
                x = cell.project(x)
            new.append(cell.step(state[k], x))
            x = cell.output(new[k])
        return tuple(new)

    def output(self, state: tuple[Any, ...]) -> Tensor:
        return self.layers[-1].output(state[-1])

    def draw(self, like: Tensor) -> Stacked:
        return Stacked([cell.draw(like) for cell in self.layers])

    def sweep(
        self, xs: Tensor, state: tuple[Any, ...], run: Sweep
    ) -> tuple[Tensor, tuple[Any, ...]]:
        """A scan of a stack is a stack of scans."""
        final = []
        for cell, begin in zip(self.layers, state, strict=True):
            xs, end = run(cell, xs, begin)
            final.append(end)
        return xs, tuple(final)


class Residual(Cell[State]):
    """y_i = x_i + O(s_i): what the cell adds to its input. The state remembers y, since O sees no x."""

    def __init__(self, cell: Cell[Any]) -> None:
        super().__init__()
        if cell.input_size != cell.output_size:
            raise ModelError(
                f"a residual cell writes as many features as it reads, not {cell.output_size} "
                f"from {cell.input_size}"
            )
        self.cell = cell
        self.input_size = self.output_size = cell.output_size

    def initial(self, like: Tensor) -> State:
        return State(
            inner=self.cell.initial(like), y=like.new_zeros(like.shape[0], self.output_size)
        )

    def project(self, x: Tensor) -> tuple[Any, Tensor]:
        return self.cell.project(x), x

    def step(self, state: State, x: tuple[Any, Tensor]) -> State:
        projected, raw = x
        inner = self.cell.step(state.inner, projected)
        return State(inner=inner, y=raw + self.cell.output(inner))

    def output(self, state: State) -> Tensor:
        return cast(Tensor, state.y)

    def draw(self, like: Tensor) -> Residual:
        return Residual(self.cell.draw(like))

    def sweep(self, xs: Tensor, state: State, run: Sweep) -> tuple[Tensor, State]:
        ys, inner = run(self.cell, xs, state.inner)
        ys = xs + ys
        return ys, State(inner=inner, y=run.last(ys, state.y))
