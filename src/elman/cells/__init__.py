"""Cells: ``cell(input_size, hidden_size)`` is one step of a recurrence; cells around cells are cells."""

from collections.abc import Callable
from difflib import get_close_matches

from elman.cells.cell import Cell, Sweep
from elman.cells.compound import Residual, Stacked
from elman.cells.elman import Elman, ReLUElman
from elman.cells.formula_cell import Around, FormulaCell, Formulaic, parameter_count
from elman.cells.gru import GRU, FlippedGRU, ReLUGRU, ResetAfterGRU
from elman.cells.lstm import LSTM, BoundedLSTM
from elman.cells.lstm_variants import CoupledLSTM, NormedLSTM, PeepholeLSTM, ProjectedLSTM
from elman.cells.mogrifier import Mogrifier
from elman.cells.noise import Dropout, WeightDrop, Zoneout
from elman.errors import ConfigError

CELLS: dict[str, Callable[[int, int], Formulaic]] = {
    "elman": Elman,
    "relu": ReLUElman,
    "lstm": LSTM,
    "bounded-lstm": BoundedLSTM,
    "coupled-lstm": CoupledLSTM,
    "peephole-lstm": PeepholeLSTM,
    "normed-lstm": NormedLSTM,
    "projected-lstm": lambda d, h: ProjectedLSTM(d, h, cell_size=2 * h),
    "gru": GRU,
    "relu-gru": ReLUGRU,
    "flipped-gru": FlippedGRU,
    "reset-after-gru": ResetAfterGRU,
}
"""Cells by the names that configurations and the command line use."""


def named(name: str) -> Callable[[int, int], Formulaic]:
    """``cell(input_size, hidden_size)`` by name; an unknown one is an error that says what there is."""
    if name in CELLS:
        return CELLS[name]
    near = get_close_matches(name, CELLS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CELLS)}"
    raise ConfigError(f"unknown cell {name!r}; {hint}")


__all__ = [
    "CELLS",
    "GRU",
    "LSTM",
    "Around",
    "BoundedLSTM",
    "Cell",
    "CoupledLSTM",
    "Dropout",
    "Elman",
    "FlippedGRU",
    "FormulaCell",
    "Formulaic",
    "Mogrifier",
    "NormedLSTM",
    "PeepholeLSTM",
    "ProjectedLSTM",
    "ReLUElman",
    "ReLUGRU",
    "ResetAfterGRU",
    "Residual",
    "Stacked",
    "Sweep",
    "WeightDrop",
    "Zoneout",
    "named",
    "parameter_count",
]
