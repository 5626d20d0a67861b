"""A formula cell as plain data: its formula, and what `FormulaCell` is told beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from elman.cells.cell import Cell
from elman.cells.formula_cell import ElementwiseCell, FormulaCell, RecurrentCell
from elman.errors import FormulaError, show_value
from elman.formula import Formula
from elman.formula.formula_data import formula_to_data
from elman.formula.stored_formula import read_formula

CellMaker = Callable[[int, int], Cell[Any]]
"""``cell(input_size, hidden_size)``."""

SIZES = (48, 96, 144)  # at which a cell is looked at; many numbers of heads divide them
_KEYS = {"formula", "bias", "heads", "widths", "own_start"}
_MOST = 1 << 20  # of heads, and of the numbers of a width
_METHODS = (
    *("initial", "project", "step", "output", "forward", "sample_masks", "freeze", "scan_parts"),
    *("affine", "matrices", "unit_parameters", "step_inputs", "multiply"),
)


def cell_to_data(make: CellMaker) -> dict[str, Any]:
    """What JSON can hold of the cells that ``make`` builds; a FormulaError says why they are no data.

    A width is [a, b]: a · hidden_size + b; that of gates has no name. ``own_start`` says that a class chooses
    first weights, which are no data: those of a trained model are in its folder.
    """
    with torch.random.fork_rng(devices=[]):
        cells = [_require_plain(make(7, size)) for size in SIZES]
        first, formula = cells[0], cells[0].formula
        widths = {name: _find_width(name, cells) for name in first.widths}
        units = widths[formula.gates[0]]
        other = {name: width for name, width in widths.items() if width != units}
        options = {"bias": first.b is not None, "heads": first.heads, "widths": {"": units, **other}}
        data = {"formula": formula_to_data(formula), **options, "own_start": _has_own_start(type(first))}
        again = read_cell(data)
        for cell, size in zip(cells, SIZES, strict=True):
            if _shapes(again(7, size)) != _shapes(cell) or cell.formula is not formula:
                raise FormulaError(f"{type(first).__name__} has weights beside those of its formula")
    return data


def _require_plain(cell: Cell[Any]) -> FormulaCell:
    """The cell, if its formula says all that it does."""
    if not isinstance(cell, FormulaCell):
        raise FormulaError(f"{type(cell).__name__} is not made of a formula alone")
    for name in _METHODS:
        if getattr(type(cell), name) is not getattr(FormulaCell, name):
            raise FormulaError(f"{type(cell).__name__} has a method {name!r} of its own")
    return cell


def read_cell(data: Any) -> CellMaker:
    """What builds the cells that ``cell_to_data`` described; nothing in the data is executed."""
    if not isinstance(data, dict) or data.keys() != _KEYS:
        raise FormulaError(f"a stored cell is a table of {', '.join(sorted(_KEYS))}, not {show_value(data)}")
    formula, bias, heads = read_formula(data["formula"]), data["bias"], data["heads"]
    if type(bias) is not bool or type(data["own_start"]) is not bool:
        raise FormulaError("bias and own_start of a stored cell are true or false")
    if type(heads) is not int or not 0 < heads < _MOST:
        raise FormulaError(f"a stored cell has {show_value(heads)} heads")
    widths = _read_widths(data["widths"], formula)

    def make(input_size: int, hidden_size: int) -> FormulaCell:
        wide = {name: a * hidden_size + b for name, (a, b) in widths.items()}
        units = wide.pop("")
        return FormulaCell(formula, input_size, units, bias=bias, heads=heads, widths=wide)

    return make


def _read_widths(given: Any, formula: Formula) -> dict[str, list[int]]:
    known = {"", *formula.states, *formula.matrices}
    if not isinstance(given, dict) or "" not in given or not given.keys() <= known:
        raise FormulaError(f"widths of a stored cell is {show_value(given)}")
    for width in given.values():
        pair = isinstance(width, list) and [type(number) for number in width] == [int, int]
        if not pair or not all(0 <= number < _MOST for number in width):
            raise FormulaError(f"{show_value(width)} is no width of a stored cell")
    return given


def _find_width(name: str, cells: Sequence[FormulaCell]) -> list[int]:
    """How a width follows from the hidden size: [a, b]."""
    found = [cell.widths[name] for cell in cells]
    a = (found[1] - found[0]) // (SIZES[1] - SIZES[0])
    b = found[0] - a * SIZES[0]
    if [a * size + b for size in SIZES] != found or min(a, b) < 0:
        raise FormulaError(f"the width of {name!r} is no multiple of the hidden size")
    return [a, b]


def _shapes(cell: Cell[Any]) -> dict[str, torch.Size]:
    return {name: weight.shape for name, weight in cell.state_dict().items()}


def _has_own_start(kind: type[FormulaCell]) -> bool:
    """Whether a class may choose first weights otherwise than every formula cell."""
    usual = (FormulaCell.__init__, RecurrentCell.__init__, ElementwiseCell.__init__)
    return kind.__init__ not in usual or kind.init_units is not FormulaCell.init_units
