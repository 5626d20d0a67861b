"""The step of a decoder that writes, laid out for that: of a network that does not change meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import proxy

from torch.nn.functional import pad

from elman.cells import Cell
from elman.decoding import Step
from elman.decoding.interfaces import FixedStep, StepParts
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import DecoderContext, DecoderOutput
from elman.layers.decoders.decoder_program import ProgramSession, find_program
from elman.layers.decoders.inference import freeze_cell
from elman.layers.decoders.without_attention import ContextDecoder, PlainDecoder
from elman.layers.decoders.writer import LazyWriter, WriterParts, WriterStep, bind_writer, pad_width
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
        if self.net.unrecordable_reason() is not None:
            return step
        return FixedStep(fuse_step(step), lambda: self._list_parts(session, batch))

    def _attend(self, session: DecoderContext, batch: Seq2SeqBatch) -> Step[State]:
        in_one_call = None if self.program is None else self.program.begin(session)
        return _attending_step(self.net, self.writer.begin(session), batch.copies, batch.unknown, in_one_call)

    def _go_on(self, decoder: PlainDecoder | ContextDecoder, session: DecoderContext) -> Step[State]:
        return _plain_step(self.net, decoder, self.cells, session)

    def _list_parts(self, session: DecoderContext, batch: Seq2SeqBatch) -> StepParts[State]:
        net: Any = proxy(self.net)  # so that a recording, which is kept with the network, does not keep it
        if isinstance(self.decoder, AttentionDecoder):
            copies = pad(batch.copies, (0, pad_width(batch.source.shape[1]) if batch.copies.shape[1] else 0))
            read = self.writer.list_parts(session), copies, batch.unknown
            return StepParts(self.net, read, lambda read: _bind_attending(net, *read))
        cells, session = self.cells, session._replace(stacks=())
        return StepParts(self.net, session, lambda one: fuse_step(_plain_step(net, net.decoder, cells, one)))


def _bind_attending(net: Any, parts: WriterParts, copies: Int[Tensor, "B S"], unknown: int) -> Step[State]:
    return fuse_step(_attending_step(net, bind_writer(net.decoder, net.target, parts), copies, unknown))


def _attending_step(
    net: Seq2SeqNetwork,
    write: WriterStep,
    copies: Int[Tensor, "B S"],
    unknown: int,
    in_one_call: ProgramSession | None = None,
) -> Step[State]:
    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        tokens = to_vocabulary(net, tokens)
        found = None if in_one_call is None else in_one_call.step(state, tokens)
        if found is None:
            state, o, weights = write(state, tokens)
            logits = net.softmax.logits(o)
        else:
            state, o, weights, logits = found
        return state, with_copies(
            net, DecoderOutput(state, o[:, None], weights[:, None]), logits, copies, unknown
        )

    return step


def _plain_step(
    net: Seq2SeqNetwork,
    decoder: PlainDecoder | ContextDecoder,
    cells: Sequence[Cell[Any]],
    session: DecoderContext,
) -> Step[State]:
    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        state, o = decoder.step(cells, session, state, net.target(tokens[:, None])[:, 0])
        return state, net.softmax.logits(o)

    return step
