"""Decoders whose cells read what attention finds: one step after the other."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple, cast

import torch
from torch.nn.functional import linear

from elman.cells import Dropout, Formulaic
from elman.layers.decoder import Attending, Reading, Session
from elman.layers.encoder import Encoding
from elman.shapes import Float, Tensor
from elman.state import State


class Stepwise(Attending):
    """Reads given tokens in a loop; what can be known before it is computed before it."""

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        # W [x; c] = W_x x + W_c c, of which the first is known for all steps.
        W, b = cast(Formulaic, cast(Dropout[Any], self.cells[0]).cell).affine()
        size, rows = xs.shape[2], session.rows_of(state)
        turn = _Turn(session, rows, W[:, size:])
        os, weights = [], []
        for x in linear(xs, W[:, :size], b).unbind(1):
            state, o, alpha = self._step(turn, state, x)
            os.append(o)
            weights.append(alpha)
        return Reading(state, torch.stack(os, 1), torch.stack(weights, 1))

    @abstractmethod
    def _step(self, turn: _Turn, state: State, x: Tensor) -> tuple[State, Tensor, Tensor]:
        """s_i, o_i (B, O) and α_i (B, S) from s_{i-1} and W_x x_i + b."""

    def _found(self, turn: _Turn, h: Tensor) -> tuple[Tensor, Tensor]:
        c, weights = self.attention(h[:, None], turn.session.source, turn.rows)
        return c[:, 0], weights[:, 0]


class _Turn(NamedTuple):
    """What the steps of one reading have in common."""

    session: Session
    rows: Tensor | None
    W: Tensor  # W_c, of what is read beside the token

    def move(self, states: tuple[Any, ...], x: Tensor, beside: Tensor) -> tuple[Any, ...]:
        """The next state of every layer."""
        cells = self.session.cells
        new: list[Any] = []
        for k, (cell, state) in enumerate(zip(cells, states, strict=True)):
            gates = (
                cell.project(cells[k - 1].output(new[-1])) if k else (x + linear(beside, self.W),)
            )
            new.append(cell.step(state, gates))
        return tuple(new)

    def output(self, states: tuple[Any, ...]) -> Tensor:
        return self.session.cells[-1].output(states[-1])


class Previous(Stepwise):
    """Attention scored with the state before, its finding read by the cells (Bahdanau et al. 2015)."""

    @property
    def looks(self) -> int:
        return 0

    def _step(self, turn: _Turn, state: State, x: Tensor) -> tuple[State, Tensor, Tensor]:
        c, weights = self._found(turn, turn.output(state.cells))
        cells = turn.move(state.cells, x, c)
        return state.replace(cells=cells), self.readout(turn.output(cells), c), weights


class Feeding(Stepwise):
    """Attention scored with the state of now; what the softmax reads is fed back (Luong et al. 2015)."""

    fed = True

    def open(self, encoding: Encoding) -> tuple[Session, State]:
        session, state = super().open(encoding)
        nothing = encoding.last.new_zeros(len(state.row), self.output_size)
        return session, State(cells=state.cells, row=state.row, o=nothing)

    def _step(self, turn: _Turn, state: State, x: Tensor) -> tuple[State, Tensor, Tensor]:
        cells = turn.move(state.cells, x, state.o)
        h = turn.output(cells)
        c, weights = self._found(turn, h)
        o = self.readout(h, c)
        return state.replace(cells=cells, o=o), o, weights
