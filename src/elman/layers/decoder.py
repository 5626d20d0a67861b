"""Decoders: what is written next, given what was written and what an encoder read.

Six of them, by what they see of the source, and when. x_i is the token before, h_i what the cells give, o_i
what the softmax reads, c the sum of the source and c_i what attention finds in it:

    first      h_i = R(h_{i-1}, x_i)                                   o_i = h_i
    every      h_i = R(h_{i-1}, [x_i; c])                              o_i = tanh(W [h_i; c])
    previous   c_i = attend(h_{i-1})    h_i = R(h_{i-1}, [x_i; c_i])   o_i = tanh(W [h_i; c_i])
    current    h_i = R(h_{i-1}, x_i)    c_i = attend(h_i)              o_i = tanh(W [h_i; c_i])
    between    h'_i = R'(h'_{i-1}, x_i)   c_i = attend(h'_i)
               h_i = R(h_{i-1}, [h'_i; c_i])                           o_i = tanh(W [h_i; c_i])
    feeding    h_i = R(h_{i-1}, [x_i; o_{i-1}])   c_i = attend(h_i)    o_i = tanh(W [h_i; c_i])

``previous`` (Bahdanau et al. 2015) and ``feeding`` (Luong et al. 2015) go by steps: `elman.layers.stepwise`.
The others read any number of given tokens at once; ``between`` is that of Wu et al. 2016.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from elman.cells import Cell, Dropout, Formulaic
from elman.errors import ModelError
from elman.layers.attention import Attention, Memory
from elman.layers.encoder import Encoding
from elman.layers.start import Start, Summary
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import State


class Reading(NamedTuple):
    """What a decoder says after each token that it read."""

    state: State
    os: Float[Tensor, "B T O"]
    weights: Float[Tensor, "B T S"] | None  # over the source, where there is attention


class Session(NamedTuple):
    """One batch of sources before a decoder: what lasts as long as they are written about."""

    source: Any  # a memory, a sum, or nothing: one row a source
    cells: tuple[Cell[Any], ...]  # with their dice thrown
    rows: Tensor  # all sources, in order

    def rows_of(self, state: State) -> Tensor | None:
        """The source of each sequence; None where they are all of them in order, and none must be copied."""
        if state.row is self.rows:
            return None
        if not state.row.is_cuda and torch.equal(state.row, self.rows):  # a GPU would have to wait
            return None
        return cast(Tensor, state.row)


class Decoder(nn.Module, ABC):
    """Layers of cells that write. A state holds their states and, in ``row``, the source of each sequence."""

    output_size: int

    def __init__(self, cells: Sequence[Formulaic], start: Start, noise: float) -> None:
        super().__init__()
        self.cells = nn.ModuleList(Dropout(cell, noise) for cell in cells)
        self.start = start

    def open(self, encoding: Encoding) -> tuple[Session, State]:
        """Turn to some sources, and the state before anything is written, one row for each."""
        cells = cast("list[Cell[Any]]", list(self.cells))
        drawn = tuple(cell.draw(encoding.last) for cell in cells)
        rows = torch.arange(len(encoding.mask), device=encoding.mask.device)
        session = Session(self._look(encoding), drawn, rows)
        return session, State(cells=self.start(encoding), row=rows)

    @abstractmethod
    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        """What the decoder says after each of some tokens, and the state after the last."""

    def _look(self, encoding: Encoding) -> Any:
        """What it sees of the source; nothing, unless said otherwise."""
        return None


def _scan(
    cells: Sequence[Cell[Any]], states: Sequence[Any], xs: Tensor
) -> tuple[Tensor, tuple[Any, ...]]:
    final = []
    for cell, state in zip(cells, states, strict=True):
        xs, end = scan(cell, xs, None, state)
        final.append(end)
    return xs, tuple(final)


class Readout(nn.Module):
    """o = tanh(W [h; c])."""

    def __init__(self, size: int, context: int, output_size: int) -> None:
        super().__init__()
        self.W = nn.Linear(size + context, output_size)

    def forward(self, h: Float[Tensor, "*N H"], c: Float[Tensor, "*N E"]) -> Float[Tensor, "*N O"]:
        return torch.tanh(self.W(torch.cat([h, c.to(h.dtype)], -1)))


class First(Decoder):
    """The source is in the first state alone."""

    def __init__(self, cells: Sequence[Formulaic], start: Start, noise: float) -> None:
        super().__init__(cells, start, noise)
        self.output_size = cells[-1].output_size

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        hs, final = _scan(session.cells, state.cells, xs)
        return Reading(state.replace(cells=final), hs, None)


class Every(Decoder):
    """The sum c of the source goes into every step."""

    def __init__(
        self,
        cells: Sequence[Formulaic],
        start: Start,
        noise: float,
        *,
        summary: Summary,
        readout: Readout,
    ) -> None:
        super().__init__(cells, start, noise)
        self.summary, self.readout = summary, readout
        self.output_size = readout.W.out_features

    def _look(self, encoding: Encoding) -> Tensor:
        return self.summary(encoding)

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        c = session.source[state.row][:, None].expand(-1, xs.shape[1], -1)
        hs, final = _scan(session.cells, state.cells, torch.cat([xs, c.to(xs.dtype)], -1))
        return Reading(state.replace(cells=final), self.readout(hs, c), None)


class Attending(Decoder):
    """What all decoders with attention have."""

    fed = False  # whether what the softmax read is read by the first layer at the next step

    @property
    def looks(self) -> int:
        """The layer that reads what was found; where none does, as many as there are."""
        return len(self.cells)

    def __init__(
        self,
        cells: Sequence[Formulaic],
        start: Start,
        noise: float,
        *,
        attention: Attention,
        readout: Readout,
    ) -> None:
        super().__init__(cells, start, noise)
        self.attention, self.readout = attention, readout
        self.output_size = readout.W.out_features

    def _look(self, encoding: Encoding) -> Memory:
        return self.attention.remember(encoding.ys, encoding.mask)


class Current(Attending):
    """Attention scored with the state of now, all steps at once."""

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        hs, final = _scan(session.cells, state.cells, xs)
        cs, weights = self.attention(hs, session.source, session.rows_of(state))
        return Reading(state.replace(cells=final), self.readout(hs, cs), weights)


class Between(Attending):
    """Attention scored with the first layer's state, its finding read by the layers above."""

    def __init__(self, cells: Sequence[Formulaic], *rest: Any, **parts: Any) -> None:
        if len(cells) < 2:
            raise ModelError("attention between layers needs two layers or more, there is one")
        super().__init__(cells, *rest, **parts)

    @property
    def looks(self) -> int:
        return 1

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        hs, first = _scan(session.cells[:1], state.cells[:1], xs)
        cs, weights = self.attention(hs, session.source, session.rows_of(state))
        both = torch.cat([hs, cs.to(hs.dtype)], -1)
        hs, rest = _scan(session.cells[1:], state.cells[1:], both)
        return Reading(state.replace(cells=first + rest), self.readout(hs, cs), weights)
