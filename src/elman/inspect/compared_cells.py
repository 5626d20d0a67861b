"""The cells of a comparison, by the names that its table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elman.cells import CellMaker, get_cell, resolve_cell
from elman.errors import ConfigError


def resolve_cells(cells: Sequence[Any]) -> dict[str, CellMaker]:
    """What builds each cell: one by name, ``FILE.py:NAME``, a formula, or a class; each is there once."""
    found: dict[str, str] = {}
    for cell in map(resolve_cell, cells):  # an unknown one is said before any work
        if found.setdefault(str(cell), cell) != cell:
            raise ConfigError(f"two different cells are called {str(cell)!r}: give one of them another name")
    return {name: get_cell(cell) for name, cell in found.items()}
