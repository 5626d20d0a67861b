"""A cell that is not one of Elman's: a name in a configuration that carries what builds the cell."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any, cast

import torch

from elman.cells.cell import Cell
from elman.cells.formula_cell import FormulaCell
from elman.cells.stored_cell import SIZES, CellMaker, cell_to_data, read_cell
from elman.errors import ConfigError, ElmanError, FormulaError, ModelError, shorten, show_value
from elman.formula import Formula
from elman.state import State, leaves

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")  # what a table, a model card and a file name can show


class OwnCell(str):
    """The name of a cell, with the cell: configurations have it where they have the name of one of Elman's.

    Two are equal if they have one name and compute the same; code is equal to itself alone.
    """

    make: CellMaker
    data: Mapping[str, Any] | None  # what a model folder holds of it; None: it is code
    code: str  # where the user said it is: "mycells.py:MGU"
    reason: str  # why it is no data

    @property
    def digest(self) -> str:
        """Of what the cell computes; of code, where it is."""
        if self.data is None:
            return f"code {self.code}"
        formula = {**self.data["formula"], "name": "", "parameters": [*self.data["formula"]["parameters"]]}
        computed = {**self.data, "formula": formula, "own_start": False}
        return f"formula {sha256(json.dumps(computed, sort_keys=True).encode()).hexdigest()[:12]}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OwnCell) or str(self) != str(other):
            return False
        return self.make is other.make or (self.data is not None and self.digest == other.digest)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"{str(self)!r} ({self.digest})"

    def __deepcopy__(self, memo: Any) -> OwnCell:
        return self


def hold_cell(given: Any, code: str, name: str = "") -> OwnCell:
    """A formula, a class of cells or another function of two sizes, with its own name where none is given."""
    make = _maker(given, code)
    known = name or getattr(given, "__name__", "") or getattr(given, "name", "")
    held = OwnCell(check_name(known))
    held.make, held.code, held.data, held.reason = make, code, None, ""
    _try(make, code)
    try:
        held.data = cell_to_data(make)
    except ElmanError as error:
        held.reason = str(error)
    return held


def read_own_cell(stored: Any) -> OwnCell:
    """The cell that a model folder holds as data; of code it holds where that was, and there is no ``make``."""
    if not isinstance(stored, dict) or not isinstance(stored.get("name"), str):
        raise FormulaError("a stored cell is a table with a name")
    held = OwnCell(check_name(stored["name"]))
    if "code" in stored:
        held.data = None
        held.code, held.reason = (shorten(str(stored.get(key, ""))) for key in ("code", "reason"))
    else:
        held.data, held.code, held.reason = {k: v for k, v in stored.items() if k != "name"}, "", ""
        held.make = read_cell(held.data)
    return held


def own_cell_to_data(cell: OwnCell) -> dict[str, Any]:
    """What a model folder holds of a cell: `read_own_cell` reads it."""
    content = {"code": cell.code, "reason": cell.reason} if cell.data is None else cell.data
    return {"name": str(cell), **content}


def check_name(name: Any) -> str:
    """The name of a cell, as tables and model cards can show it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"{show_value(name)} cannot be the name of a cell; take letters, digits, . _ and -")
    return name


def _maker(given: Any, code: str) -> CellMaker:
    if isinstance(given, Formula):
        if given.masks:
            raise ConfigError(f"{code} has masks, which a formula does not draw; write a Cell around it")
        return partial(FormulaCell, given)
    if callable(given) and not isinstance(given, Cell):
        return cast(CellMaker, given)
    what = f"one cell, {type(given).__name__}" if isinstance(given, Cell) else show_value(given)
    raise ConfigError(f"{code} is {what}; expected a formula, a class of cells, or a function of two sizes")


def _try(make: CellMaker, code: str) -> None:
    """Refuse what does not build cells, before anything is trained."""
    size, hidden = 7, SIZES[0]
    try:
        made: Any = make(size, hidden)
        state = made.initial(torch.zeros(2, size)) if isinstance(made, Cell) else None
    except ElmanError as error:
        raise ModelError(f"{code}: {error}") from None
    except Exception as error:  # of code that is not ours
        said = f"{type(error).__name__}: {shorten(str(error))}"
        hint = "a formula has @formula(gates=…) above it"
        raise ModelError(f"{code}({size}, {hidden}) builds no cell: {said}; {hint}") from None
    if not isinstance(made, Cell):
        raise ModelError(f"{code}({size}, {hidden}) is {show_value(made)}, not a Cell")
    if getattr(made, "input_size", None) != size or type(getattr(made, "output_size", None)) is not int:
        raise ModelError(f"{code}: input_size of the cell must be {size}, and output_size a whole number")
    _check_state(state, code)


def _check_state(state: Any, code: str) -> None:
    if not isinstance(state, State | torch.Tensor):
        raise ModelError(f"{code}: initial gives a {type(state).__name__}; a state is a tensor or a State(…)")
    for path, leaf in leaves(state):
        if not leaf.is_floating_point() or leaf.shape[:1] != (2,):
            which = path or "the state"
            raise ModelError(f"{code}: {which} must hold decimal numbers, with a row for each sequence")
