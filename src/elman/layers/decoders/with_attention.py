"""Four decoders with attention, by what scores it and who reads what it finds."""

from __future__ import annotations

import torch

from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import DecoderContext, DecoderOutput
from elman.layers.encoder import EncoderOutput
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import State


class LuongDecoder(AttentionDecoder):
    """Scored with the state of now; no cell reads it, so given tokens go all at once (Luong et al. 2015)."""

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        hs, final = scan(context.stacks[0], xs, None, state.cells)
        cs, weights = self.look_back(hs, context, state)
        return DecoderOutput(state.replace(cells=final), self.readout(hs, cs), weights)


class GNMTDecoder(AttentionDecoder):
    """Scored with the first layer's state, read by the layer above: all at once, too (Wu et al. 2016)."""

    @property
    def attention_layer(self) -> int:
        return 1

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        first, above = context.stacks
        hs, low = scan(first, xs, None, state.cells[:1])
        cs, weights = self.look_back(hs, context, state)
        hs, high = scan(above, torch.cat([hs, cs.to(hs.dtype)], -1), None, state.cells[1:])
        return DecoderOutput(state.replace(cells=low + high), self.readout(hs, cs), weights)


class BahdanauDecoder(AttentionDecoder):
    """Scored with the state before, read by the first layer (Bahdanau et al. 2015)."""

    @property
    def attention_layer(self) -> int:
        return 0


class InputFeedingDecoder(AttentionDecoder):
    """Scored with the state of now; what the softmax reads is fed back (Luong et al. 2015)."""

    input_feeding = True

    def begin(self, encoded: EncoderOutput) -> tuple[DecoderContext, State]:
        context, state = super().begin(encoded)
        nothing = encoded.last.new_zeros(len(state.row), self.output_size)
        return context, State(cells=state.cells, row=state.row, o=nothing)
