"""A stack of cells is a cell, and so is one that adds to what it reads: what deep networks run on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, cast

import torch
from torch import nn

from elman.cells.cell import Cell, PartScanner
from elman.cells.regularization import Dropout
from elman.errors import ModelError
from elman.shapes import Tensor
from elman.state import State


class Stacked(Cell[tuple[Any, ...]]):
    """Each cell reads the output of the one below: x^{k+1}_i = O^k(s^k_i). Widths may differ."""

    def __init__(self, cells: Sequence[Cell[Any]]) -> None:
        super().__init__()
        check_stack("cell", cells)
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

    def sample_masks(self, like: Tensor) -> Stacked:
        layers = self.layers
        drawn = [cell.sample_masks(like) for cell in layers]
        return self if drawn == layers else _DrawnStack(drawn)

    def scan_parts(
        self, xs: Tensor, state: tuple[Any, ...], run: PartScanner
    ) -> tuple[Tensor, tuple[Any, ...]]:
        """A scan of a stack is a stack of scans."""
        final = []
        for cell, begin in zip(self.layers, state, strict=True):
            xs, end = run(cell, xs, begin)
            final.append(end)
        return xs, tuple(final)


class _DrawnStack(Stacked):
    """A stack with its masks drawn: it lasts a batch, so its cells are not registered as parts of a module."""

    def __init__(self, cells: Sequence[Cell[Any]]) -> None:
        super(Stacked, self).__init__()
        sizes = {"input_size": cells[0].input_size, "output_size": cells[-1].output_size}
        self.__dict__.update(_layers=cells, **sizes)  # a module's own way takes longer than a step

    @property
    def layers(self) -> list[Cell[Any]]:
        return cast("list[Cell[Any]]", self.__dict__["_layers"])


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
        return self.around(self.cell.initial(like), like)

    def around(self, inner: Any, like: Tensor) -> State:
        """The state before the first step in which the inner cell's is ``inner``."""
        return State(inner=inner, y=like.new_zeros(like.shape[0], self.output_size))

    def project(self, x: Tensor) -> tuple[Any, Tensor]:
        return self.cell.project(x), x

    def step(self, state: State, x: tuple[Any, Tensor]) -> State:
        projected, raw = x
        inner = self.cell.step(state.inner, projected)
        return State(inner=inner, y=raw + self.cell.output(inner))

    def output(self, state: State) -> Tensor:
        return cast(Tensor, state.y)

    def sample_masks(self, like: Tensor) -> Residual:
        return Residual(self.cell.sample_masks(like))

    def freeze(self, dtype: torch.dtype) -> Residual:
        return Residual(self.cell.freeze(dtype))

    def scan_parts(self, xs: Tensor, state: State, run: PartScanner) -> tuple[Tensor, State]:
        ys, inner = run(self.cell, xs, state.inner)
        ys = xs + ys
        return ys, State(inner=inner, y=run.last(ys, state.y))


def stack_cells(cells: Sequence[Cell[Any]], dropout: Sequence[float], *, residual: bool = False) -> Stacked:
    """A stack with dropout after each cell that has a probability for it, the lowest first.

    With ``residual`` a cell above the first adds to what it reads, where it writes as many features.
    """
    dropped = [Dropout(cell, p) for cell, p in zip(cells, dropout, strict=False)]
    each = [*dropped, *cells[len(dropped) :]]
    adds = find_residuals(each) if residual else []
    return Stacked([Residual(cell) if k in adds else cell for k, cell in enumerate(each)])


def check_stack(kind: str, parts: Sequence[Any]) -> None:
    """Refuse cells or layers that cannot stand on each other, the lowest first."""
    if not parts:
        raise ModelError(f"a stack needs at least one {kind}")
    for below, above in pairwise(parts):
        if (reads := above.input_size) != (writes := below.output_size):
            raise ModelError(f"a {kind} that reads {reads} features cannot stand on one that writes {writes}")


def find_residuals(parts: Sequence[Any]) -> list[int]:
    """Which cells or layers of a stack add to what they read: above the first, those that write as much."""
    adds = [k for k, part in enumerate(parts) if k and part.input_size == part.output_size]
    if not adds:
        raise ModelError(
            "residual connections need a layer above the first that writes as many features as it reads"
        )
    return adds
