"""The network of a tagger, and its options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import nn

from elman.cells import named
from elman.layers.dropout import SequenceDropout
from elman.layers.encoder import recurrent
from elman.layers.words import Words
from elman.shapes import Float, Tensor
from elman.tasks.lexicon import Lexicon
from elman.tasks.settings import positive, share
from elman.tasks.tagging.feedback import FeedbackHead
from elman.tasks.tagging.heads import CRFHead, SoftmaxHead
from elman.tasks.tagging.tags import Tagset
from elman.tasks.words import WordModel


@dataclass(frozen=True)
class Model(WordModel):
    """The network: embed, encode, tag."""

    cell: str = "lstm"
    hidden: int = 200  # units of each direction
    layers: int = 1
    bidirectional: bool = True
    output: Literal["auto", "softmax", "crf", "feedback"] = "auto"  # crf where tags mark spans
    scheme: Literal["", "BIO", "IOB1", "BIOES"] = "BIOES"  # to train spans in; "": that of the file
    loss: Literal["sum", "mean"] = "sum"  # over the words of a sentence
    tag_size: int = 20  # feedback: features of a tag
    beam: int = 5  # feedback: hypotheses
    dropout: float = 0.5
    word_dropout: float = 0.1
    characters: Literal["", "cnn", "lstm"] = "cnn"
    casing: bool = True
    affixes: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        named(self.cell)
        for name in ("hidden", "layers", "tag_size", "beam"):
            positive(name, getattr(self, name))
        share("dropout", self.dropout)


class Network(nn.Module):
    """y_{1:n} of each sentence, and a head for each column that reads them."""

    def __init__(self, model: Model, lexicon: Lexicon, tagsets: Sequence[Tagset]) -> None:
        super().__init__()
        self.words = lexicon.layer(model)
        self.drop = SequenceDropout(model.dropout)
        self.encode = recurrent(
            named(model.cell),
            (self.words.output_size, model.hidden),
            layers=model.layers,
            bidirectional=model.bidirectional,
            dropout=model.dropout,
        )
        size = self.encode.output_size
        self.heads = nn.ModuleList(_head(model, size, tagset) for tagset in tagsets)

    def forward(self, words: Words) -> Float[Tensor, "B T H"]:
        ys: Tensor
        ys, _ = self.encode(self.drop(self.words(words)), words.mask)
        return ys


def _head(model: Model, size: int, tagset: Tagset) -> nn.Module:
    count, allowed, output = len(tagset.labels), tagset.constraints(), output_of(model, tagset)
    if output == "softmax":
        return SoftmaxHead(size, count)
    if output == "crf":
        return CRFHead(size, count, allowed)
    cell = named(model.cell)(size + model.tag_size, model.hidden)
    return FeedbackHead(cell, count, allowed, features=model.tag_size, beam=model.beam)


def output_of(model: Model, tagset: Tagset) -> str:
    """The output layer of a column."""
    if model.output == "auto":
        return "crf" if tagset.trained else "softmax"
    return model.output
