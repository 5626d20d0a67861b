"""The step of a decoder with attention that writes, before it knows its sources, and before some."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, cast

from torch.nn.functional import pad

from elman.kernels.few_rows import linear_few
from elman.layers.attention import Memory
from elman.layers.decoders.attention_decoder import AttentionDecoder, formula_cell
from elman.layers.decoders.base import DecoderContext
from elman.layers.decoders.inference import CutMatrices, InferenceDecoder, TokenProjections
from elman.layers.embedding import Embedding
from elman.shapes import Int, Tensor
from elman.state import State

WriterStep = Callable[[State, Tensor], tuple[State, Tensor, Tensor]]
"""s_{i-1} and a token of each sequence -> s_i, o_i, α_i."""

_ALIKE = 8  # lengths of sources for which a step has one shape


class WriterParts(NamedTuple):
    """What a decoder reads at each step beside its weights, as they lie."""

    context: DecoderContext
    cut: CutMatrices
    rows: Tensor  # of tokens, as in `TokenProjections`
    W: Tensor


class LazyWriter:
    """The step of a decoder by `InferenceDecoder`, made when it is first asked for; on a GPU before that."""

    def __init__(self, decoder: AttentionDecoder, embedding: Embedding) -> None:
        self.decoder, self.embedding = decoder, embedding
        self._table = self._read_tokens() if embedding.E.weight.is_cuda else None

    @cached_property
    def weights(self) -> InferenceDecoder:
        return InferenceDecoder(self.decoder)

    def begin(self, context: DecoderContext) -> WriterStep:
        """s_i, o_i and α_i from s_{i-1} and a token of each sequence, before some sources."""
        known = [] if self._table is None else [(self.weights.begin(context), self._table)]

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Tensor, Tensor]:
            if not known:  # on a CPU what one thread computes, no other reads
                known.append((self.weights.begin(context), self._read_tokens()))
            session, inputs = known[0]
            return self.decoder.step(self.weights, session, state, inputs(tokens))

        return step

    def list_parts(self, context: DecoderContext) -> WriterParts:
        """What the step before these sources reads, in memory of `pad_width`."""
        inputs = self._read_tokens() if self._table is None else self._table
        context = self.weights.begin(context)
        values, keys, mask = cast(Memory, context.source)
        more = pad_width(mask.shape[1])
        memory = Memory(pad(values, (0, 0, 0, more)), pad(keys, (0, 0, 0, more)), pad(mask, (0, more)))
        return WriterParts(context._replace(source=memory, stacks=()), self.weights.cut, *inputs.parts)

    def _read_tokens(self) -> TokenProjections:
        return TokenProjections(self.embedding, self.decoder)


def pad_width(length: int) -> int:
    """How much padding, at which nobody looks, gives sources of like length one shape."""
    return -length % _ALIKE


def bind_writer(decoder: AttentionDecoder, embedding: Embedding, parts: WriterParts) -> WriterStep:
    """The step of a decoder that reads these parts."""
    weights, (_, b) = InferenceDecoder(decoder, parts.cut), formula_cell(decoder.layers[0]).affine()

    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Tensor, Tensor]:
        if len(parts.rows):
            x = parts.rows.index_select(0, tokens)
        else:
            x = linear_few(embedding(tokens[None])[0], parts.W, b)
        return decoder.step(weights, parts.context, state, x)

    return step
