"""Cells: ``cell(input_size, hidden_size)`` is one step of a recurrence; cells around cells are cells."""

from elman.cells.cell import Cell, PartScanner
from elman.cells.cell_reference import resolve_cell
from elman.cells.elementwise import QRNN, RGLRU, SRU, IndRNN, MinGRU, MinLSTM
from elman.cells.elman import Elman, ReLUElman
from elman.cells.formula_cell import ElementwiseCell, FormulaCell, RecurrentCell, count_parameters
from elman.cells.formulaic import Formulaic, WrappedCell
from elman.cells.gru import GRU, FlippedGRU, ReLUGRU, ResetAfterGRU
from elman.cells.light_cells import HGRN, SSRU, ParaGRU
from elman.cells.lstm import LSTM, BoundedLSTM
from elman.cells.lstm_variants import SLSTM, CappedLSTM, CoupledLSTM, LayerNormLSTM, PeepholeLSTM, ProjectedLSTM
from elman.cells.mogrifier import Mogrifier
from elman.cells.own_cell import OwnCell
from elman.cells.recorded import RecordedCell, record_stack
from elman.cells.registry import CELLS, get_cell, register
from elman.cells.regularization import (
    Dropout,
    OutputWrapper,
    WeightDrop,
    Zoneout,
    require_formula,
    with_zoneout,
)
from elman.cells.stacked import Residual, Stacked, stack_cells
from elman.cells.stored_cell import CellMaker

__all__ = [
    "CELLS",
    "GRU",
    "HGRN",
    "LSTM",
    "QRNN",
    "RGLRU",
    "SLSTM",
    "SRU",
    "SSRU",
    "BoundedLSTM",
    "CappedLSTM",
    "Cell",
    "CellMaker",
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
    "OutputWrapper",
    "OwnCell",
    "ParaGRU",
    "PartScanner",
    "PeepholeLSTM",
    "ProjectedLSTM",
    "ReLUElman",
    "ReLUGRU",
    "RecordedCell",
    "RecurrentCell",
    "ResetAfterGRU",
    "Residual",
    "Stacked",
    "WeightDrop",
    "WrappedCell",
    "Zoneout",
    "count_parameters",
    "get_cell",
    "record_stack",
    "register",
    "require_formula",
    "resolve_cell",
    "stack_cells",
    "with_zoneout",
]
