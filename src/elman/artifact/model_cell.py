"""The cell of a model folder, where it is not one of Elman's: cell.json, data of which nothing is executed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elman.cells import OwnCell, resolve_cell
from elman.cells.own_cell import own_cell_to_data, read_own_cell
from elman.cells.registry import find_registered
from elman.errors import ConfigError, FormulaError, ModelError
from elman.files.model_files import CELL
from elman.text.json_io import read_json, write_json


def write_cell(cell: str, folder: Path) -> None:
    """Write cell.json for a cell of a user's own; one of Elman's is known by its name."""
    own = cell if isinstance(cell, OwnCell) else find_registered(cell)
    if own is None:
        (folder / CELL).unlink(missing_ok=True)  # of an earlier model
        return
    write_json(folder / CELL, own_cell_to_data(own))


def with_model_cell(model: Mapping[str, Any], folder: Path, given: Any = None) -> Mapping[str, Any]:
    """The options of a folder's config.json with the cell that they mean; ``given`` is one that the user names.

    Code is never looked for: it is the user's to give, by ``given`` or `elman.cells.register`.
    """
    own, name = None if given is None else resolve_cell(given), model.get("cell")
    if not (folder / CELL).exists():
        if own is not None and own != name:
            raise ModelError(f"{folder} was trained with the cell {name!r}, not with {own!r}; leave it out")
        return model
    stored = _read_cell(folder, name)
    if stored.data is None:
        return {**model, "cell": own or _find_code(folder, stored)}
    if own is not None and own != stored:
        raise ModelError(f"{folder} was trained with {stored!r}, not with {own!r}; leave out the cell")
    return {**model, "cell": stored}


def _read_cell(folder: Path, name: Any) -> OwnCell:
    path = folder / CELL
    try:
        stored = read_own_cell(read_json(path))
    except (FormulaError, ConfigError) as error:
        raise ModelError(f"{path} is damaged: {error}") from None
    if str(stored) != name:
        raise ModelError(f"{path} has the cell {str(stored)!r}, but config.json asks for another")
    return stored


def _find_code(folder: Path, stored: OwnCell) -> OwnCell:
    """The code that this program registered for a cell that is no data."""
    found = find_registered(str(stored))
    if found is None:
        name = str(stored)
        raise ModelError(
            f"{folder}: its cell {name!r} is code, which a folder does not hold ({stored.reason}); give it: "
            f"--cell {stored.code or 'FILE.py:NAME'}, or in Python elman.load(folder, cell={name})"
        )
    return found
