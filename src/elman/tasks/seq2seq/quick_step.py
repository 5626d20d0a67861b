"""The step of a decoder that writes, laid out for that: of a network that does not change meanwhile."""

from __future__ import annotations

from elman.decoding import Step
from elman.decoding.interfaces import FixedStep
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import DecoderContext, DecoderOutput
from elman.layers.decoders.decoder_program import find_program
from elman.layers.decoders.inference import LazyWriter, freeze_cell
from elman.layers.decoders.without_attention import ContextDecoder, PlainDecoder
from elman.scan.fused_step import fuse_step
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.seq2seq.loss import step_after, to_vocabulary, with_copies
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.search import Seq2SeqBatch


class QuickSteps:
    """Steps of a network before any sources. The weights are laid out once."""

    def __init__(self, net: Seq2SeqNetwork) -> None:
        self.net, self.decoder, self.on_gpu = net, net.decoder, net.softmax.b.is_cuda
        self.cells = [freeze_cell(cell) for cell in getattr(self.decoder, "layers", ())]
        if isinstance(self.decoder, AttentionDecoder):
            self.program = None if self.on_gpu else find_program(self.decoder, net.target, net.softmax)
            self.writer = LazyWriter(self.decoder, net.target)

    def begin(self, batch: Seq2SeqBatch, most: int) -> tuple[Step[State], State]:
        """The step before these sources, and its first state; ``most`` as in `DecoderContext`."""
        session, first = self.decoder.begin(self.net.encode(batch.source, batch.mask))
        return self.step_after(session._replace(most=most), batch), first

    def step_after(self, session: DecoderContext, batch: Seq2SeqBatch) -> Step[State]:
        """The step of a decoder that has read the sources."""
        if isinstance(self.decoder, AttentionDecoder):
            step = self._attend(session, batch)
        elif isinstance(self.decoder, PlainDecoder | ContextDecoder) and self.on_gpu:
            step = self._go_on(self.decoder, session)
        else:
            return step_after(self.net, session, batch)
        return FixedStep(fuse_step(step)) if self.net.unrecordable_reason() is None else step

    def _attend(self, session: DecoderContext, batch: Seq2SeqBatch) -> Step[State]:
        net, by_parts = self.net, self.writer.begin(session)
        in_one_call = None if self.program is None else self.program.begin(session)

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
            tokens = to_vocabulary(net, tokens)
            found = None if in_one_call is None else in_one_call.step(state, tokens)
            if found is None:
                state, o, weights = by_parts(state, tokens)
                logits = net.softmax.logits(o)
            else:
                state, o, weights, logits = found
            return state, with_copies(net, DecoderOutput(state, o[:, None], weights[:, None]), logits, batch)

        return step

    def _go_on(self, decoder: PlainDecoder | ContextDecoder, session: DecoderContext) -> Step[State]:
        net = self.net

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
            state, o = decoder.step(self.cells, session, state, net.target(tokens[:, None])[:, 0])
            return state, net.softmax.logits(o)

        return step
