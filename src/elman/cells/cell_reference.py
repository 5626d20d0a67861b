"""Which cell a user means: a name, ``FILE.py:NAME``, ``module:NAME``, a stored cell.json, or an object."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

from elman.cells.code_import import import_object
from elman.cells.own_cell import OwnCell, hold_cell, read_own_cell
from elman.cells.registry import CELLS, find_installed, find_registered, get_cell
from elman.errors import ConfigError, FormulaError

_log = logging.getLogger("elman")


def resolve_cell(given: Any) -> str:
    """What a configuration holds as ``model.cell``: the name of one of Elman's cells, or an `OwnCell`.

    Files and modules are imported. So it is for what a user says, never for what a model folder does.
    """
    if isinstance(given, OwnCell) or (isinstance(given, str) and given in CELLS):
        return given
    own = _find_named(given) if isinstance(given, str) else hold_cell(given, _describe(given))
    if str(own) in CELLS:  # later, one of the two would be taken for the other
        raise ConfigError(f"{str(own)!r} is the name of a cell of Elman's; give yours another name")
    return own


def _find_named(given: str) -> OwnCell:
    if given.endswith(".json"):
        return _read_file(Path(given))
    if ":" in given:
        return hold_cell(import_object(given), given)
    own = find_registered(given) or find_installed(given)
    if own is None:
        get_cell(given)  # says what there is
        raise AssertionError(given)
    return own


def _describe(given: Any) -> str:
    """Where an object is, for messages."""
    name = getattr(given, "__qualname__", None) or getattr(given, "name", None)
    return f"{given.__module__}:{name}" if isinstance(name, str) else "model.cell"


def _read_file(path: Path) -> OwnCell:
    """A cell as data, of a model folder."""
    try:
        cell = read_own_cell(json.loads(path.read_text("utf-8")))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError, FormulaError) as error:
        raise ConfigError(f"{path} is no stored cell: {error}") from None
    if cell.data is None:
        raise ConfigError(f"{path}: the cell {str(cell)!r} is code, not data; give {cell.code}")
    if cell.data["own_start"]:
        _log.warning("%s: a new training starts %s as any formula, not as its class did", path, cell)
    return cell
