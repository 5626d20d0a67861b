"""Cells: ``cell(input_size, hidden_size)`` is one step of a recurrence; cells around cells are cells."""

from elman.cells.cell import Cell, Sweep
from elman.cells.elman import Elman, ReLUElman
from elman.cells.formula_cell import FormulaCell, Formulaic, parameter_count
from elman.cells.gru import GRU, FlippedGRU, ReLUGRU, ResetAfterGRU
from elman.cells.lstm import LSTM, BoundedLSTM
from elman.cells.lstm_variants import CoupledLSTM, NormedLSTM, PeepholeLSTM, ProjectedLSTM

__all__ = [
    "GRU",
    "LSTM",
    "BoundedLSTM",
    "Cell",
    "CoupledLSTM",
    "Elman",
    "FlippedGRU",
    "FormulaCell",
    "Formulaic",
    "NormedLSTM",
    "PeepholeLSTM",
    "ProjectedLSTM",
    "ReLUElman",
    "ReLUGRU",
    "ResetAfterGRU",
    "Sweep",
    "parameter_count",
]
