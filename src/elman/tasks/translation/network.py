"""The network of a sequence-to-sequence model: embed, encode, decode, say what comes next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import nn
from torch.nn.functional import dropout, pad

from elman.cells import Formulaic, named
from elman.layers.aligned import Aligned
from elman.layers.attention import SCORES, Attention
from elman.layers.convolution import ConvolutionalEncoder
from elman.layers.decoder import Between, Current, Decoder, Every, First, Reading, Readout, Session
from elman.layers.dropout import SequenceDropout
from elman.layers.embedding import Embedding, Pretrained, PretrainedEmbedding
from elman.layers.encoder import Encoder, Encoding, RecurrentEncoder, StatelessEncoder, recurrent
from elman.layers.rnn import RNN, Layers
from elman.layers.softmax import Softmax
from elman.layers.start import SUMMARIES, Copied, CopiedMean, Start, Transformed, Zero
from elman.layers.stepwise import Feeding, Previous
from elman.layers.transformer import TransformerEncoder
from elman.shapes import Bool, Int, Tensor
from elman.state import State
from elman.tasks.translation.model import Model
from elman.tasks.translation.pointer import Pointer
from elman.text.vocab import BOS

_ATTENDING: dict[str, Callable[..., Decoder]] = {
    "current": Current,
    "between": Between,
    "previous": Previous,
    "feeding": Feeding,
}


class Network(nn.Module):
    """p(y | x) = Π_i softmax(W o_i)[y_i], o_i = decoder(y_{<i}, encoder(x)).

    Encoder and decoder have parameters and embeddings of their own, unless ``shared`` or ``single``.
    """

    def __init__(
        self, model: Model, vocabularies: tuple[int, int], vectors: Pretrained | None = None
    ) -> None:
        super().__init__()
        source, target = vocabularies
        self.word_dropout, self.aligned = model.word_dropout, model.context == "aligned"
        self.target = Embedding(target, model.embedding)
        if not model.shared:
            given = None if vectors is None else PretrainedEmbedding(vectors)
            self.source = given or Embedding(source, model.embedding)
        width = self.reads.output_size
        self.decoder = self._decoder(model, width)
        if not model.single:
            self.encoder = _encoder(model, width)
        size = self.decoder.output_size
        self.drop = SequenceDropout(model.dropout)
        self.softmax = Softmax(
            size, target, self.target if model.tied else None, smoothing=model.smoothing
        )
        self.pointer = Pointer(size, target) if model.copying else None

    @property
    def reads(self) -> Embedding | PretrainedEmbedding:
        """The embedding of the source."""
        return self.source if hasattr(self, "source") else self.target

    def _decoder(self, model: Model, width: int) -> Decoder:
        size = _output_size(model, width)
        if model.context == "aligned":
            return Aligned(size)
        cells = _cells(model, size)
        start, readout = (
            _start(model, cells, size),
            Readout(cells[-1].output_size, size, model.hidden),
        )
        if model.context == "first":
            return First(cells, start, model.dropout)
        if model.context == "every":
            summary = SUMMARIES[model.summary]
            return Every(cells, start, model.dropout, summary=summary, readout=readout)
        top = cells[0] if model.context == "between" else cells[-1]
        attention = Attention(SCORES[model.score](top.output_size, size))
        make = _ATTENDING[model.context]
        return make(cells, start, model.dropout, attention=attention, readout=readout)

    def encode(self, ids: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Encoding:
        """The sources as they were read; a transducer gets room to write beyond their end."""
        if self.aligned:
            ids, mask = _with_room(ids, mask)
        xs = self.drop(self._embedded(self.reads, ids))
        return self._reader(xs, mask)

    @property
    def _reader(self) -> Encoder:
        if hasattr(self, "encoder"):
            return self.encoder
        return RecurrentEncoder(Layers([RNN(cell) for cell in cast(Any, self.decoder.cells)]))

    def read(self, session: Session, state: State, tokens: Int[Tensor, "B T"]) -> Reading:
        """What the decoder says after each of some tokens, before any output dropout."""
        xs = self.drop(self._embedded(self.target, tokens))
        return self.decoder.read(session, state, xs)

    def _embedded(self, embedding: nn.Module, ids: Tensor) -> Tensor:
        xs: Tensor = embedding(ids)
        if self.training and self.word_dropout:
            xs = xs * dropout(xs.new_ones(*ids.shape, 1), self.word_dropout)
        return xs


def _output_size(model: Model, width: int) -> int:
    """Features of the encoder's outputs."""
    if model.encoder != "recurrent":
        return model.reading_units
    one = named(model.cell)(width, model.reading_units).output_size
    return one * (1 + model.bidirectional)


def _encoder(model: Model, width: int) -> Encoder:
    layers, hidden = model.reading, model.reading_units
    if model.encoder == "recurrent":
        return RecurrentEncoder(
            recurrent(
                named(model.cell),
                (width, hidden),
                layers=layers,
                bidirectional=model.bidirectional,
                dropout=model.dropout,
            )
        )
    make = ConvolutionalEncoder if model.encoder == "convolutional" else TransformerEncoder
    net: nn.Module = make(width, hidden, layers, dropout=model.dropout)
    return StatelessEncoder(net, hidden)


def _cells(model: Model, context: int) -> list[Formulaic]:
    """The decoder's cells; the one that reads the context is wider."""
    cell, embedding = named(model.cell), model.embedding
    beside = {"every": context, "previous": context, "feeding": model.hidden}.get(model.context, 0)
    cells = [cell(embedding + beside, model.hidden)]
    for k in range(1, model.layers):
        more = context if model.context == "between" and k == 1 else 0
        cells.append(cell(cells[-1].output_size + more, model.hidden))
    return cells


def _start(model: Model, cells: list[Formulaic], size: int) -> Start:
    if model.start == "zero":
        return Zero(cells)
    if model.start == "transformed":
        return Transformed(cells, size, SUMMARIES[model.summary])
    return Copied() if model.summary == "last" else CopiedMean(cells)


def _with_room(ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """After each source as many <s> as it has tokens, and a few: a target may be longer than it."""
    lengths, most = mask.sum(1), 2 * ids.shape[1] + 5
    place = torch.arange(most, device=ids.device)
    ids = pad(ids, (0, most - ids.shape[1]))
    past = (place >= lengths[:, None]) & (place < 2 * lengths[:, None] + 5)
    return ids.masked_fill(past, BOS), pad(mask, (0, most - mask.shape[1])) | past
