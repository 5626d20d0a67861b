"""The network of a sequence-to-sequence model: embed, encode, decode, say what comes next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import torch
from torch import nn
from torch.nn.functional import pad

from elman.cells import Cell, Stacked, get_cell, stack_cells, with_zoneout
from elman.kernels.dropout import draw_mask
from elman.layers.attention import SCORES, Attention
from elman.layers.decoders.base import Decoder, DecoderContext, DecoderOutput, Readout, RecurrentDecoder
from elman.layers.decoders.initial_state import (
    SUMMARIES,
    CopyInit,
    DecoderInit,
    LearnedInit,
    MeanInit,
    ZeroInit,
)
from elman.layers.decoders.with_attention import BahdanauDecoder, GNMTDecoder, InputFeedingDecoder, LuongDecoder
from elman.layers.decoders.without_attention import ContextDecoder, PlainDecoder, TransducerDecoder
from elman.layers.embedding import Embedding, LockedDropout, Pretrained, PretrainedEmbedding
from elman.layers.encoder import Encoder, EncoderOutput, RecurrentEncoder, StatelessEncoder, build_stacked_rnn
from elman.layers.rnn import RNN
from elman.layers.softmax import Softmax
from elman.layers.stateless_encoders import ConvolutionalEncoder, TransformerEncoder
from elman.scan.fused_step import unrecordable_reason
from elman.shapes import Bool, Int, Tensor
from elman.state import State
from elman.tasks.seq2seq.config import Seq2SeqConfig
from elman.tasks.seq2seq.pointer import Pointer
from elman.tasks.seq2seq.speller import Speller
from elman.text.vocab import BOS

_ATTENDING: dict[str, Callable[..., Decoder]] = {
    "luong": LuongDecoder,
    "gnmt": GNMTDecoder,
    "bahdanau": BahdanauDecoder,
    "input-feeding": InputFeedingDecoder,
}


class Seq2SeqNetwork(nn.Module):
    """p(y | x) = Π_i softmax(W o_i)[y_i], o_i = decoder(y_{<i}, encoder(x)).

    Encoder and decoder have parameters and embeddings of their own, unless ``shared`` or ``decoder_only``.
    """

    def __init__(
        self, config: Seq2SeqConfig, vocabularies: tuple[int, int], vectors: Pretrained | None = None
    ) -> None:
        super().__init__()
        source, target = vocabularies
        self.word_dropout, self.aligned = config.word_dropout, config.decoder == "transducer"
        self.target = Embedding(target, config.embedding)
        if not config.shared:
            given = None if vectors is None else PretrainedEmbedding(vectors)
            self.source = given or Embedding(source, config.embedding)
        width = self.reads.output_size
        self.decoder = self._decoder(config, width)
        if not config.decoder_only:
            self.encoder = _encoder(config, width)
        size, tied = self.decoder.output_size, self.target if config.tied else None
        self.drop = LockedDropout(config.dropout)
        self.softmax = Softmax(size, target, tied, smoothing=config.label_smoothing)
        self.pointer = Pointer(size, target) if config.copying else None
        self.spelling_weight = config.ctc_ranking
        self.speller = Speller(self.reader.output_size, target) if config.ctc else None
        one = replace(config, members=1)
        self.others = nn.ModuleList(
            Seq2SeqNetwork(one, vocabularies, vectors) for _ in range(config.members - 1)
        )

    @property
    def members(self) -> list[Seq2SeqNetwork]:
        """This network, and those that are trained beside it."""
        return [self, *cast("list[Seq2SeqNetwork]", list(self.others))]

    @property
    def reads(self) -> Embedding | PretrainedEmbedding:
        """The embedding of the source."""
        return self.source if hasattr(self, "source") else self.target

    def _decoder(self, config: Seq2SeqConfig, width: int) -> Decoder:
        size = _output_size(config, width)
        if config.decoder == "transducer":
            return TransducerDecoder(size)
        cells = _cells(config, size)
        stacks = _stacks(config, cells)
        start = _start(config, cells, size)
        readout = Readout(cells[-1].output_size, size, config.hidden)
        if config.decoder == "plain":
            return PlainDecoder(*stacks, initial_state=start)
        if config.decoder == "context":
            summary = SUMMARIES[config.summary]
            seen = readout if config.context_readout else None
            return ContextDecoder(*stacks, initial_state=start, summary=summary, readout=seen)
        top = cells[0] if config.decoder == "gnmt" else cells[-1]
        attention = Attention(SCORES[config.score](top.output_size, size))
        return _ATTENDING[config.decoder](*stacks, initial_state=start, attention=attention, readout=readout)

    def encode(self, ids: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> EncoderOutput:
        """The sources as they were read; a transducer gets room to write beyond their end."""
        if self.aligned:
            ids, mask = _with_room(ids, mask)
        return self.reader(self.drop(self._embed(self.reads, ids)), mask)

    @property
    def reader(self) -> Encoder:
        """What reads the source: the encoder, or the single network that is also the decoder."""
        if hasattr(self, "encoder"):
            return self.encoder
        return RecurrentEncoder(RNN(cast(Stacked, cast(RecurrentDecoder, self.decoder).stacks[0])))

    def read(self, session: DecoderContext, state: State, tokens: Int[Tensor, "B T"]) -> DecoderOutput:
        """What the decoder says after each of some tokens, before any output dropout."""
        return self.decoder.unroll(session, state, self.drop(self._embed(self.target, tokens)))

    def unrecordable_reason(self) -> str | None:
        """Why no CUDA graph can be made of the steps of its decoder; None where one can."""
        if not isinstance(self.decoder, RecurrentDecoder):
            return f"{type(self.decoder).__name__} has no cells"
        if self.softmax.b.dtype == torch.float64:
            return "kernels for rows of logits have 32 bits"
        return next(filter(None, map(unrecordable_reason, self.decoder.layers)), None)

    def _embed(self, embedding: nn.Module, ids: Tensor) -> Tensor:
        xs: Tensor = embedding(ids)
        if self.training and self.word_dropout:
            xs = xs * draw_mask(xs, *ids.shape, 1, p=self.word_dropout)
        return xs


def _output_size(config: Seq2SeqConfig, width: int) -> int:
    """Features of the encoder's outputs."""
    if config.encoder != "recurrent":
        return config.reading_units
    one = get_cell(config.cell)(width, config.reading_units).output_size
    return one * (1 + config.bidirectional)


def _encoder(config: Seq2SeqConfig, width: int) -> Encoder:
    layers, hidden = config.reading, config.reading_units
    if config.encoder == "recurrent":
        return RecurrentEncoder(
            build_stacked_rnn(
                with_zoneout(get_cell(config.cell), config.zoneout),
                (width, hidden),
                layers=layers,
                bidirectional=config.bidirectional,
                dropout=config.dropout,
                residual=config.residual_encoder,
            )
        )
    make = ConvolutionalEncoder if config.encoder == "convolutional" else TransformerEncoder
    net: nn.Module = make(width, hidden, layers, dropout=config.dropout)
    return StatelessEncoder(net, hidden)


def _cells(config: Seq2SeqConfig, context: int) -> list[Cell[Any]]:
    """The decoder's cells; the one that reads the context is wider."""
    cell = with_zoneout(get_cell(config.cell), config.zoneout)
    beside = {"context": context, "bahdanau": context, "input-feeding": config.hidden}.get(config.decoder, 0)
    cells = [cell(config.embedding + beside, config.hidden)]
    for k in range(1, config.layers):
        more = context if config.decoder == "gnmt" and k == 1 else 0
        cells.append(cell(cells[-1].output_size + more, config.hidden))
    return cells


def _stacks(config: Seq2SeqConfig, cells: list[Cell[Any]]) -> list[Stacked]:
    """The decoder's cells as they are stacked: attention between layers stands between two stacks."""
    parts = [(cells[:1], False), (cells[1:], True)] if config.decoder == "gnmt" else [(cells, True)]
    return [
        stack_cells(some, [config.dropout] * len(some), residual=add and config.residual_decoder)
        for some, add in parts
    ]


def _start(config: Seq2SeqConfig, cells: list[Cell[Any]], size: int) -> DecoderInit:
    if config.decoder_init == "zero":
        return ZeroInit(cells)
    if config.decoder_init == "transformed":
        return LearnedInit(cells, size, SUMMARIES[config.summary])
    return CopyInit() if config.summary == "last" else MeanInit(cells)


def _with_room(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """After each source as many <s> as it has tokens, and a few: a target may be longer than it."""
    lengths, most = mask.sum(1), 2 * ids.shape[1] + 5
    place = torch.arange(most, device=ids.device)
    ids = pad(ids, (0, most - ids.shape[1]))
    past = (place >= lengths[:, None]) & (place < 2 * lengths[:, None] + 5)
    return ids.masked_fill(past, BOS), pad(mask, (0, most - mask.shape[1])) | past
