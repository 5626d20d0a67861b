"""Cells of one's own that tests train: a formula, and a cell that no formula says."""

import torch
from torch import Tensor, nn

from elman.cells import Cell, RecurrentCell
from elman.formula import Gates, Matrices, State, formula, sigmoid, tanh


@formula(gates="f n")
def mgu(x: Gates, U: Matrices, s: State) -> State:
    """The minimal gated unit of Zhou et al. (2016)."""
    f = sigmoid(x.f + U.f(s.h))
    n = tanh(x.n + U.n(f * s.h))
    return State(h=(1 - f) * s.h + f * n)


class MGU(RecurrentCell):
    """The minimal gated unit, which begins by keeping what it has."""

    formula = mgu

    def init_units(self) -> None:
        self.init_gate_bias("f", -1.0)


class Recall(Cell[State]):
    """h' = tanh(W x + U [h; c]): c is what attention finds among the last states."""

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size, self.output_size, self.length = input_size, hidden_size, 4
        self.W = nn.Linear(input_size, hidden_size)
        self.U = nn.Linear(2 * hidden_size, hidden_size, bias=False)

    def initial(self, like: Tensor) -> State:
        rows = like.shape[0]
        past = like.new_zeros(rows, self.length, self.output_size)
        return State(h=like.new_zeros(rows, self.output_size), past=past)

    def project(self, x: Tensor) -> Tensor:
        return self.W(x)

    def step(self, state: State, x: Tensor) -> State:
        scores = torch.einsum("bh,bnh->bn", state.h, state.past)
        found = torch.einsum("bn,bnh->bh", scores.softmax(-1), state.past)
        h = torch.tanh(x + self.U(torch.cat((state.h, found), -1)))
        return State(h=h, past=torch.cat((state.past[:, 1:], h[:, None]), 1))

    def output(self, state: State) -> Tensor:
        return state.h
