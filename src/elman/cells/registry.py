"""Cells by name: those of Elman, and those that a program or an installed package adds."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any

from elman.cells.elementwise import QRNN, RGLRU, SRU, IndRNN, MinGRU, MinLSTM
from elman.cells.elman import Elman, ReLUElman
from elman.cells.gru import GRU, FlippedGRU, ReLUGRU, ResetAfterGRU
from elman.cells.light_cells import HGRN, SSRU, ParaGRU
from elman.cells.lstm import LSTM, BoundedLSTM
from elman.cells.lstm_variants import SLSTM, CappedLSTM, CoupledLSTM, LayerNormLSTM, PeepholeLSTM, ProjectedLSTM
from elman.cells.own_cell import OwnCell, check_name, hold_cell
from elman.cells.stored_cell import CellMaker
from elman.errors import ConfigError, ModelError, quote

CELLS: dict[str, CellMaker] = {
    "elman": Elman,
    "relu": ReLUElman,
    "lstm": LSTM,
    "bounded-lstm": BoundedLSTM,
    "coupled-lstm": CoupledLSTM,
    "capped-lstm": CappedLSTM,
    "peephole-lstm": PeepholeLSTM,
    "layer-norm-lstm": LayerNormLSTM,
    "projected-lstm": lambda d, h: ProjectedLSTM(d, h, cell_size=2 * h),
    "gru": GRU,
    "relu-gru": ReLUGRU,
    "flipped-gru": FlippedGRU,
    "reset-after-gru": ResetAfterGRU,
    "slstm": SLSTM,
    "minlstm": MinLSTM,
    "mingru": MinGRU,
    "rg-lru": RGLRU,
    "sru": SRU,
    "qrnn": QRNN,
    "indrnn": IndRNN,
    "ssru": SSRU,
    "hgrn": HGRN,
    "para-gru": ParaGRU,
}
"""Cells by the names that configurations and the command line use."""

GROUP = "elman.cells"  # of entry points
_registered: dict[str, OwnCell] = {}


def get_cell(name: str) -> CellMaker:
    """``cell(input_size, hidden_size)`` by its name in a configuration; an unknown one says what there is.

    Nothing is imported: `resolve_cell` finds cells in files and packages.
    """
    if isinstance(name, OwnCell):
        return name.make
    if name in CELLS:
        return CELLS[name]
    if name in _registered:
        return _registered[name].make
    near = get_close_matches(name, [*CELLS, *_registered], 1)
    there = f"there are {', '.join([*CELLS, *_registered])}; a cell of your own is FILE.py:NAME"
    raise ConfigError(f"unknown cell {quote(name)}; {f'did you mean {near[0]!r}?' if near else there}")


def register(name: str, cell: Any) -> None:
    """Let a formula, or a class of cells, be known by a name in this process, wherever cells are chosen."""
    if check_name(name) in CELLS:
        raise ConfigError(f"{name!r} is a cell of Elman's; choose another name")
    _registered[name] = hold_cell(cell, f"cell {name!r}", name)


def find_registered(name: str) -> OwnCell | None:
    """A cell that this program registered."""
    return _registered.get(name)


def find_installed(name: str) -> OwnCell | None:
    """A cell that an installed package offers by an entry point of the group ``elman.cells``."""
    for entry in entry_points(group=GROUP, name=name):
        try:
            found = entry.load()
        except Exception as error:  # of code that is not ours
            said = f"{type(error).__name__}: {error}"
            raise ModelError(f"the cell {name!r} of {entry.value} cannot be imported: {said}") from None
        return hold_cell(found, name, name)
    return None
