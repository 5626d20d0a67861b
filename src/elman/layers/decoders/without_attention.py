"""Decoders that see a source as one vector, at the beginning or at every step, or write what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from elman.cells import Cell, Stacked
from elman.layers.decoders.base import Decoder, DecoderContext, DecoderOutput, Readout, RecurrentDecoder
from elman.layers.decoders.inference import step_cells
from elman.layers.decoders.initial_state import DecoderInit, Summary
from elman.layers.encoder import EncoderOutput
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import State


class PlainDecoder(RecurrentDecoder):
    """The source is in the first state alone (Sutskever et al. 2014)."""

    def __init__(self, stack: Stacked, *, initial_state: DecoderInit) -> None:
        super().__init__(stack, initial_state=initial_state)
        self.output_size = stack.output_size

    def step(
        self, cells: Sequence[Cell[Any]], context: DecoderContext, state: State, x: Float[Tensor, "N D"]
    ) -> tuple[State, Float[Tensor, "N O"]]:
        """s_i and o_i from s_{i-1} and x_i, by cells that are laid out for it."""
        new, h = step_cells(cells, state.cells, x)
        return state.replace(cells=new), h

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        hs, final = scan(context.stacks[0], xs, None, state.cells)
        return DecoderOutput(state.replace(cells=final), hs, None)


class ContextDecoder(RecurrentDecoder):
    """The summary c of the source goes into every step (Cho et al. 2014); without a readout o_i = h_i."""

    def __init__(
        self, stack: Stacked, *, initial_state: DecoderInit, summary: Summary, readout: Readout | None
    ) -> None:
        super().__init__(stack, initial_state=initial_state)
        self.summary, self.readout = summary, readout
        self.output_size = stack.output_size if readout is None else readout.W.out_features

    def look(self, encoded: EncoderOutput) -> Tensor:
        return self.summary(encoded)

    def step(
        self, cells: Sequence[Cell[Any]], context: DecoderContext, state: State, x: Float[Tensor, "N D"]
    ) -> tuple[State, Float[Tensor, "N O"]]:
        """s_i and o_i from s_{i-1} and x_i, by cells that are laid out for it."""
        c = context.source.index_select(0, state.row)
        new, h = step_cells(cells, state.cells, torch.cat([x, c.to(x.dtype)], -1))
        return state.replace(cells=new), h if self.readout is None else self.readout(h, c)

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        c = context.source[state.row][:, None].expand(-1, xs.shape[1], -1)
        both = torch.cat([xs, c.to(xs.dtype)], -1)
        hs, final = scan(context.stacks[0], both, None, state.cells)
        os = hs if self.readout is None else self.readout(hs, c)
        return DecoderOutput(state.replace(cells=final), os, None)


class TransducerDecoder(Decoder):
    """o_i = y_i, the encoder's output at position i, whatever was written before."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.output_size = size

    def begin(self, encoded: EncoderOutput) -> tuple[DecoderContext, State]:
        rows = torch.arange(len(encoded.mask), device=encoded.mask.device)
        context = DecoderContext((encoded.ys, encoded.mask.sum(1)), (), rows)
        return context, State(cells=(), row=rows, place=torch.zeros_like(rows))

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        (ys, lengths), steps = context.source, xs.shape[1]
        places = state.place[:, None] + state.place.new_ones(1, steps).cumsum(1) - 1
        # Beyond its end, which is not that of its batch, a source says what it said last.
        os = ys[state.row[:, None], places.minimum(lengths[state.row, None] - 1)]
        return DecoderOutput(state.replace(place=state.place + steps), os, None)
