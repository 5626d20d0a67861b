"""The network of a language model: embed, recur, say what comes next."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import nn
from torch.nn.functional import dropout

from elman.cells import Cell, Dropout, Mogrifier, WeightDrop, named
from elman.layers.adaptive import AdaptiveSoftmax
from elman.layers.dropout import SequenceDropout
from elman.layers.embedding import Embedding, Pretrained, PretrainedEmbedding
from elman.layers.mixture import Mixture
from elman.layers.rnn import RNN, Layers
from elman.layers.softmax import Output, Softmax
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.language.model import Model


class Network(nn.Module):
    """p(w_{t+1} | w_{1:t}) = output(h_t), h_{1:T} = layers(embed(w_{1:T})).

    A state is a value: ``begin`` makes the first one, ``read`` and ``step`` take one and return the next.
    """

    output: Output

    def __init__(self, model: Model, vocabulary: int, vectors: Pretrained | None = None) -> None:
        super().__init__()
        self.embed = _embedding(model, vocabulary, vectors)
        self.vocabulary, self.word_dropout = vocabulary, model.word_dropout
        given = (model.input_dropout, model.layer_dropout)
        before, between = (model.dropout if p is None else p for p in given)
        self.drop_input, self.drop = SequenceDropout(before), SequenceDropout(model.dropout)
        cells: list[Cell[Any]] = []
        size = self.embed.output_size
        for width in model.widths:
            cells.append(_cell(model, size, width))
            size = cells[-1].output_size
        below = [RNN(Dropout(cell, between)) for cell in cells[:-1]]
        self.layers = Layers([*below, RNN(cells[-1])])
        self.output = _output(model, size, vocabulary, self.embed)

    def begin(self, rows: int, like: Tensor | None = None) -> Any:
        """The state before a text, for so many texts: zero, by default where the weights are."""
        like = next(self.layers.parameters()) if like is None else like
        stack = cast("list[RNN]", self.layers.stack)
        return tuple(layer.cell.initial(like.new_zeros(rows, 1)) for layer in stack)

    def read(
        self, state: Any, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[Any, Float[Tensor, "B T H"]]:
        """The state after some tokens, and the outputs after each, before any output dropout."""
        # In memory time comes first, which all recurrent kernels want.
        turned = ids.t()
        xs = self.embed(turned)
        if self.training and self.word_dropout:
            xs = xs * dropout(xs.new_ones(self.vocabulary, 1), self.word_dropout)[turned]
        hs, state = self.layers(self.drop_input(xs.transpose(0, 1)), mask, state)
        return state, hs

    def step(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[Any, Float[Tensor, "B V"]]:
        """One token on: a `decoding.Step`."""
        state, hs = self.read(state, tokens[:, None])
        return state, self.output.logits(hs[:, 0])

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """The logits after each token of whole texts."""
        _, hs = self.read(self.begin(len(ids)), ids)
        return self.output.logits(hs)


def _cell(model: Model, size: int, width: int) -> Cell[Any]:
    plain = WeightDrop(named(model.cell)(size, width), model.weight_drop)
    return Mogrifier(plain, rounds=model.rounds, rank=model.rank) if model.rounds else plain


def _output(
    model: Model, size: int, vocabulary: int, embed: Embedding | PretrainedEmbedding
) -> AdaptiveSoftmax | Mixture | Softmax:
    if model.softmax == "adaptive":
        cutoffs = model.cutoffs or (max(1, vocabulary // 16), max(2, vocabulary // 4))
        return AdaptiveSoftmax(size, vocabulary, cutoffs)
    tied = embed if model.tied and isinstance(embed, Embedding) else None
    if model.mixtures == 1:
        return Softmax(size, vocabulary, tied)
    count, dropped = model.mixtures, model.mixture_dropout
    return Mixture(size, vocabulary, tied, count=count, dropout=dropped)


def _embedding(
    model: Model, vocabulary: int, vectors: Pretrained | None
) -> Embedding | PretrainedEmbedding:
    if vectors is None:
        return Embedding(vocabulary, model.embedding)
    if model.frozen:
        return PretrainedEmbedding(vectors)
    made, found = Embedding(vocabulary, vectors.matrix.shape[1]), vectors.found
    if found.any():
        rows = vectors.matrix[found]
        with torch.no_grad():  # files come in different scales
            made.E.weight[found] = rows * (Embedding.spread / rows.std().clamp(min=1e-8))
    return made
