"""Cells: ``cell(input_size, hidden_size)`` is one step of a recurrence; cells around cells are cells."""

from collections.abc import Callable
from difflib import get_close_matches

from elman.cells.cell import Cell, PartScanner
from elman.cells.elementwise import QRNN, RGLRU, SRU, IndRNN, MinGRU, MinLSTM
from elman.cells.elman import Elman, ReLUElman
from elman.cells.formula_cell import ElementwiseCell, FormulaCell, RecurrentCell, count_parameters
from elman.cells.formulaic import Formulaic, WrappedCell
from elman.cells.gru import GRU, FlippedGRU, ReLUGRU, ResetAfterGRU
from elman.cells.lstm import LSTM, BoundedLSTM
from elman.cells.lstm_variants import SLSTM, CoupledLSTM, LayerNormLSTM, PeepholeLSTM, ProjectedLSTM
from elman.cells.mogrifier import Mogrifier
from elman.cells.regularization import Dropout, WeightDrop, Zoneout, with_zoneout
from elman.cells.stacked import Residual, Stacked, stack_cells
from elman.errors import ConfigError, quote

CELLS: dict[str, Callable[[int, int], Formulaic]] = {
    "elman": Elman,
    "relu": ReLUElman,
    "lstm": LSTM,
    "bounded-lstm": BoundedLSTM,
    "coupled-lstm": CoupledLSTM,
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
}
"""Cells by the names that configurations and the command line use."""


def get_cell(name: str) -> Callable[[int, int], Formulaic]:
    """``cell(input_size, hidden_size)`` by name; an unknown one is an error that says what there is."""
    if name in CELLS:
        return CELLS[name]
    near = get_close_matches(name, CELLS, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(CELLS)}"
    raise ConfigError(f"unknown cell {quote(name)}; {hint}")


__all__ = [
    "CELLS",
    "GRU",
    "LSTM",
    "QRNN",
    "RGLRU",
    "SLSTM",
    "SRU",
    "BoundedLSTM",
    "Cell",
    "CoupledLSTM",
    "Dropout",
    "ElementwiseCell",
    "Elman",
    "FlippedGRU",
    "FormulaCell",
    "Formulaic",
    "IndRNN",
    "LayerNormLSTM",
    "MinGRU",
    "MinLSTM",
    "Mogrifier",
    "PartScanner",
    "PeepholeLSTM",
    "ProjectedLSTM",
    "ReLUElman",
    "ReLUGRU",
    "RecurrentCell",
    "ResetAfterGRU",
    "Residual",
    "Stacked",
    "WeightDrop",
    "WrappedCell",
    "Zoneout",
    "count_parameters",
    "get_cell",
    "stack_cells",
    "with_zoneout",
]
