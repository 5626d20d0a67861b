"""The network of a language model: embed, recur, say what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

import torch
from torch import nn
from torch.nn.functional import dropout

from elman.cells import Cell, Dropout, WeightDrop, named
from elman.errors import ConfigError
from elman.layers.adaptive import AdaptiveSoftmax
from elman.layers.dropout import SequenceDropout
from elman.layers.embedding import Embedding, Pretrained, PretrainedEmbedding
from elman.layers.rnn import RNN, Layers
from elman.layers.softmax import Output, Softmax
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.settings import positive, share


@dataclass(frozen=True)
class Model:
    """The network and how it is kept from learning by heart; the dropouts are those of Merity et al. 2018."""

    cell: str = "lstm"
    hidden: int = 256  # units of a layer
    layers: int = 2
    last: int = 0  # units of the last layer, where it is another size; 0: hidden
    embedding: int = 256  # features of a token
    vectors: str = ""  # a file of pretrained ones, whose size takes its place
    frozen: bool = False  # leave those as they are
    tied: bool = True  # the softmax has the embedding's rows
    softmax: Literal["full", "adaptive"] = "full"
    cutoffs: tuple[int, ...] = ()  # first ids of adaptive's clusters; none: at 1/16 and 1/4 of all
    dropout: float = 0.3  # of the last layer's outputs
    input_dropout: float | None = None  # of the first layer's inputs; none: as dropout
    layer_dropout: float | None = None  # between layers; none: as dropout
    word_dropout: float = 0.0  # of whole tokens' embeddings
    weight_drop: float = 0.0  # of the entries of recurrent matrices
    alpha: float = 0.0  # how much large outputs cost: α mean(h²)
    beta: float = 0.0  # how much sudden changes cost: β mean((h_t - h_{t-1})²)

    def __post_init__(self) -> None:
        named(self.cell)
        for name in ("hidden", "layers", "embedding"):
            positive(name, getattr(self, name))
        for name in ("dropout", "input_dropout", "layer_dropout", "word_dropout", "weight_drop"):
            share(name, getattr(self, name) or 0.0)
        for name in ("last", "alpha", "beta"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 0")
        if self.frozen and not self.vectors:
            raise ConfigError("frozen is true, but there are no vectors to leave as they are")
        if self.tied and (self.frozen or self.softmax == "adaptive"):
            what = "frozen vectors" if self.frozen else "an adaptive softmax"
            raise ConfigError(f"tied is true, which is not for {what}; set it to false")
        if self.cutoffs and self.softmax != "adaptive":
            raise ConfigError("cutoffs are given, but softmax is not 'adaptive'")

    @property
    def widths(self) -> list[int]:
        """Units of each layer."""
        return [self.hidden] * (self.layers - 1) + [self.last or self.hidden]


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
            cells.append(WeightDrop(named(model.cell)(size, width), model.weight_drop))
            size = cells[-1].output_size
        below = [RNN(Dropout(cell, between)) for cell in cells[:-1]]
        self.layers = Layers([*below, RNN(cells[-1])])
        if model.softmax == "adaptive":
            cutoffs = model.cutoffs or (max(1, vocabulary // 16), max(2, vocabulary // 4))
            self.output = AdaptiveSoftmax(size, vocabulary, cutoffs)
        else:
            tied = self.embed if model.tied and isinstance(self.embed, Embedding) else None
            self.output = Softmax(size, vocabulary, tied)

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
