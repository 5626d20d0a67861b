"""A decoder with attention that writes: a token of each sequence at a time, without gradients.

What a step makes of the context is linear in the source, W c_i = Σ_j α_ij W h^e_j, and what it makes of a token
is known before: both are computed once, however many hypotheses look and write.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch.nn.functional import linear

from elman.cells import Dropout, Formulaic
from elman.layers.attention import Memory
from elman.layers.decoder import Attending, Session
from elman.layers.embedding import Embedding
from elman.layers.steady import Product, Steady
from elman.shapes import Float, Int, Tensor
from elman.state import State


class Writer:
    """The steps of a decoder that does not change; each is the same as its ``read`` of one token."""

    def __init__(self, decoder: Attending) -> None:
        self.decoder, self.cells = decoder, [Steady(cell) for cell in plain(decoder)]
        affine, top = [cell.affine() for cell in self.cells], decoder.readout.W
        sizes = [cell.output_size for cell in self.cells]
        self.inputs = [
            Product(W[:, :n].contiguous(), b) for (W, b), n in zip(affine[1:], sizes, strict=False)
        ]
        self.readout = Product(top.weight[:, : sizes[-1]].contiguous(), top.bias)
        fed = affine[0][0][:, -decoder.output_size :]
        self.feed = Product(fed.contiguous()) if decoder.fed else None
        wide = top.in_features - sizes[-1]
        found = [top.weight, *(W for W, _ in affine[decoder.looks : decoder.looks + 1])]
        self.found = torch.cat([W[:, -wide:] for W in found])

    def open(self, session: Session) -> Session:
        """The same sources as the steps look at them."""
        memory = cast(Memory, session.source)
        return session._replace(source=memory._replace(values=linear(memory.values, self.found)))

    def __call__(
        self, session: Session, state: State, x: Float[Tensor, "N G"]
    ) -> tuple[State, Float[Tensor, "N O"], Float[Tensor, "N S"]]:
        """The new state, o and α from the state and W_x x + b."""
        cells, looks, size = self.cells, self.decoder.looks, self.decoder.output_size
        rows = session.rows_of(state)
        if self.feed is not None:
            x = x + self.feed(state.o)
        h, new = cells[-1].output(state.cells[-1]), list[Any]()
        for k, cell in enumerate(cells):
            if k == looks:
                found, weights = self._look(h, session, rows)
            if k:
                x = self.inputs[k - 1](h)
            new.append(cell.step(state.cells[k], (x + found[:, size:] if k == looks else x,)))
            h = cell.output(new[-1])
        if looks == len(cells):
            found, weights = self._look(h, session, rows)
        o = torch.tanh(self.readout(h) + found[:, :size])
        fed = {} if self.feed is None else {"o": o}
        return state.replace(cells=tuple(new), **fed), o, weights

    def _look(self, h: Tensor, session: Session, rows: Tensor | None) -> tuple[Tensor, Tensor]:
        found, weights = self.decoder.attention(h[:, None], session.source, rows)
        return found[:, 0], weights[:, 0]


class Inputs:
    """W_x x + b of the tokens that a decoder reads; on a CPU each is computed when it is first asked for."""

    def __init__(self, embedding: Embedding, decoder: Attending) -> None:
        W, self.b = plain(decoder)[0].affine()
        self.embedding, self.W = embedding, W[:, : embedding.output_size].contiguous()
        self.known = torch.zeros(len(embedding.E.weight), dtype=torch.bool)
        # Memory that nothing is written to is none.
        self.rows = W.new_empty(len(self.known) if self.W.device.type == "cpu" else 0, len(W))

    def __call__(self, tokens: Int[Tensor, " N"]) -> Float[Tensor, "N G"]:
        if not len(self.rows):
            return self._made(tokens)
        new = torch.unique(tokens[~self.known[tokens]])
        if len(new):
            self.rows[new] = self._made(new).to(self.rows.dtype)
            self.known[new] = True
        return self.rows[tokens]

    def _made(self, tokens: Tensor) -> Tensor:
        return linear(self.embedding(tokens[None])[0], self.W, self.b)


def plain(decoder: Attending) -> list[Formulaic]:
    """The cells of a decoder without their dropout."""
    return [cast(Formulaic, cast(Dropout[Any], cell).cell) for cell in decoder.cells]
