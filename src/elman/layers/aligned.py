"""The decoder that is none: a transducer writes at each position of what it reads."""

from __future__ import annotations

from torch import Tensor

from elman.layers.decoder import Decoder, Reading, Session
from elman.layers.encoder import Encoding
from elman.shapes import Float
from elman.state import State


class Aligned(Decoder):
    """o_i = y_i, the encoder's output at position i, whatever was written before."""

    def __init__(self, size: int) -> None:
        super().__init__((), lambda encoding: (), 0.0)
        self.output_size = size

    def open(self, encoding: Encoding) -> tuple[Session, State]:
        session, state = super().open(encoding)
        return session, State(cells=(), row=state.row, place=state.row.new_zeros(len(state.row)))

    def _look(self, encoding: Encoding) -> tuple[Tensor, Tensor]:
        return encoding.ys, encoding.mask.sum(1)

    def read(self, session: Session, state: State, xs: Float[Tensor, "B T D"]) -> Reading:
        (ys, lengths), steps = session.source, xs.shape[1]
        places = state.place[:, None] + state.place.new_ones(1, steps).cumsum(1) - 1
        # Beyond its end, which is not that of its batch, a source says what it said last.
        os = ys[state.row[:, None], places.minimum(lengths[state.row, None] - 1)]
        return Reading(state.replace(place=state.place + steps), os, None)
