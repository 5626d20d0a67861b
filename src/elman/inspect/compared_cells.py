"""The cells of a comparison, by the names that its table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elman.cells import LSTM, CellMaker, Mogrifier, get_cell, resolve_cell
from elman.errors import ConfigError

WRAPPED: dict[str, CellMaker] = {"mogrifier": lambda d, h: Mogrifier(LSTM(d, h))}
"""Cells around cells that have a name in comparisons alone: a recipe says the rounds of its own."""


def resolve_cells(cells: Sequence[Any]) -> dict[str, CellMaker]:
    """What builds each cell: one by name, ``FILE.py:NAME``, a formula, or a class; each is there once."""
    found: dict[str, str] = {}
    for cell in cells:
        cell = (
            cell if isinstance(cell, str) and cell in WRAPPED else resolve_cell(cell)
        )  # an unknown one is said now
        if found.setdefault(str(cell), cell) != cell:
            raise ConfigError(f"two different cells are called {str(cell)!r}: give one of them another name")
    return {name: WRAPPED[name] if name in WRAPPED else get_cell(cell) for name, cell in found.items()}
