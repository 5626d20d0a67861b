"""The simple recurrent network of Elman (1990), with tanh or ReLU."""

from __future__ import annotations

from elman.cells.formula_cell import RecurrentCell
from elman.formula import Gates, Matrices, State, formula, relu, tanh


@formula(gates="h")
def elman(x: Gates, U: Matrices, s: State) -> State:
    return State(h=tanh(x.h + U.h(s.h)))


@formula(gates="h")
def elman_relu(x: Gates, U: Matrices, s: State) -> State:
    return State(h=relu(x.h + U.h(s.h)))


class Elman(RecurrentCell):
    """h' = tanh(W x + U h + b),  y = h'

    The recurrence costs H² parameters more than a feed-forward layer of the same width.
    """

    formula = elman


class ReLUElman(RecurrentCell):
    """h' = max(0, W x + U h + b),  y = h'"""

    formula = elman_relu
