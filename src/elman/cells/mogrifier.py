"""Input and state gate one another before a cell reads: the Mogrifier (Melis et al. 2020).

No formula: its gates are as wide as the input, and what the cell's matrices W multiply is known within the
step only. So it is a cell around a cell, and runs step by step.
"""

from __future__ import annotations

from typing import cast

import torch
from torch import nn

from elman.cells.cell import Cell
from elman.cells.formula_cell import Formulaic
from elman.errors import ModelError
from elman.shapes import Tensor
from elman.state import State


class Mogrified(Cell[State]):
    """A cell whose input and output state pass through gates, by turns, before each step."""

    def __init__(self, cell: Formulaic, gates: nn.ModuleList) -> None:
        super().__init__()
        self.cell, self.gates = cell, gates
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def initial(self, like: Tensor) -> State:
        return self.cell.initial(like)

    def project(self, x: Tensor) -> Tensor:
        return x

    def step(self, state: State, x: Tensor) -> State:
        name = self.cell.formula.output
        h = cast(Tensor, getattr(state, name))
        for turn, gate in enumerate(self.gates):
            if turn % 2:
                h = 2 * torch.sigmoid(gate(x)) * h
            else:
                x = 2 * torch.sigmoid(gate(h)) * x
        return self.cell.step(state.replace(**{name: h}), self.cell.project(x))

    def output(self, state: State) -> Tensor:
        return self.cell.output(state)

    def draw(self, like: Tensor) -> Cell[State]:
        return Mogrified(cast(Formulaic, self.cell.draw(like)), self.gates)

    def equations(self) -> list[str]:
        """The rounds, then the cell's formula, typeset in Unicode; x and h are what the round before left."""
        turns = range(1, len(self.gates) + 1)
        lines = [
            f"h = 2 ⊙ σ(R_{i} x) ⊙ h" if i % 2 == 0 else f"x = 2 ⊙ σ(Q_{i} h) ⊙ x" for i in turns
        ]
        return [*lines, *self.cell.equations()]


class Mogrifier(Mogrified):
    """Any cell after some rounds in which x and h gate one another, x first.

    x ← 2 σ(Q_i h) ⊙ x    (i = 1, 3, …)        h ← 2 σ(R_i x) ⊙ h    (i = 2, 4, …)        then s' = R(s, x)

    ``rank`` makes each Q_i and R_i a product of two thin matrices; 0: they are whole. All gates begin at 1:
    the cell begins as the one it holds.
    """

    def __init__(self, cell: Formulaic, *, rounds: int = 5, rank: int = 0) -> None:
        if rounds < 1 or rank < 0:
            raise ModelError(
                f"rounds must be at least 1 and rank at least 0, got {rounds} and {rank}"
            )
        sizes = cell.output_size, cell.input_size
        gates = [_gate(*(sizes[::-1] if turn % 2 else sizes), rank) for turn in range(rounds)]
        super().__init__(cell, nn.ModuleList(gates))


def _gate(source: int, target: int, rank: int) -> nn.Module:
    last = nn.Linear(rank or source, target, bias=False)
    nn.init.zeros_(last.weight)
    return nn.Sequential(nn.Linear(source, rank, bias=False), last) if rank else last
