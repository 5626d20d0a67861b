"""What the oracles share: who can run a cell, how weights get into it, how near is near enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from elman.cells import Cell, FormulaCell
from elman.scan import EXECUTORS

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def executors(cell: Cell) -> list[str]:
    """Every executor that accepts the cell, and the choice that is made when none is named."""
    return ["auto", *(name for name, e in EXECUTORS.items() if e.unsupported_reason(cell) is None)]


@torch.no_grad()
def fill(cell: FormulaCell, W: Tensor, U: Sequence[Tensor], b: Tensor | None, p: Sequence[Tensor] = ()) -> None:
    """Copy weights whose gates are in the order of the formula into the cell, which takes their dtype."""
    cell.to(W.dtype)
    assert (cell.b is None) == (b is None)
    theirs = [W, *([] if b is None else [b]), *U, *p]
    ours = [cell.W, *([] if b is None else [cell.b]), *cell.U, *cell.p]
    for parameter, value in zip(ours, theirs, strict=True):
        assert parameter.shape == value.shape
        parameter.copy_(value)


def reordered(rows: Tensor, order: Sequence[int]) -> Tensor:
    """The blocks of rows, one a gate, in another order."""
    return torch.cat([rows.chunk(len(order))[k] for k in order])


def apart(biases: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """A bias for each gate, and what a reset after the product acts on: the last gate's second bias.

    ``biases`` has two for each gate: (2, G·width).
    """
    first, second = biases
    rest = torch.cat((second[:-width], torch.zeros_like(second[-width:])))
    return first + rest, second[-width:]


def assert_agree(ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor], executor: str) -> None:
    """The same names, and the same values to the tolerance of their dtype."""
    assert ours.keys() == theirs.keys()
    for name, expected in theirs.items():
        tolerance = TOLERANCE[expected.dtype]

        def says(text: str, name: str = name) -> str:
            return f"{name} by the {executor} executor: {text}"

        torch.testing.assert_close(ours[name], expected, rtol=tolerance, atol=tolerance, msg=says)
