"""The network of a tagger and its options: embed, encode, a head for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from torch import nn

from elman.cells import get_cell
from elman.layers.embedding import LockedDropout
from elman.layers.word_layer import WordBatch
from elman.ranges import BeamWidth, Range, Rate, Size
from elman.shapes import Bool, Float, Tensor
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.heads import CRFHead, SoftmaxHead
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.word_batch import WordFeaturesConfig, build_encoder
from elman.tasks.word_features import WordFeaturizer


@dataclass(frozen=True)
class TaggerConfig(WordFeaturesConfig):
    """The network: embed, encode, tag."""

    hidden: Size = 200
    output: Literal["auto", "softmax", "crf", "autoregressive"] = "auto"  # crf where tags mark spans
    scheme: Literal["", "BIO", "IOB1", "BIOES"] = "BIOES"  # to train spans in; "": that of the file
    loss: Literal["sum", "mean"] = "sum"  # over the words of a sentence
    tag_size: Size = 20  # autoregressive: features of a tag
    beam: BeamWidth = 5  # autoregressive: hypotheses
    dropout: Rate = 0.5
    word_dropout: Rate = 0.1
    adversarial: Rate = 0.0  # words moved for the worst by this share of their length are trained on, too
    characters: Literal["", "cnn", "lstm"] = "cnn"
    casing: bool = True
    affixes: Annotated[int, Range(0, 100)] = 3
    calibrate: bool = True  # choose a temperature on the validation data, not for autoregressive tags

    changeable: ClassVar[frozenset[str]] = WordFeaturesConfig.changeable | {
        "loss",
        "beam",
        "adversarial",
        "calibrate",
    }


class TaggerNetwork(nn.Module):
    """y_{1:n} of each sentence, and a head for each column that reads them."""

    def __init__(self, config: TaggerConfig, featurizer: WordFeaturizer, tagsets: Sequence[Tagset]) -> None:
        super().__init__()
        self.words = featurizer.layer(config)
        self.drop = LockedDropout(config.dropout)
        self.encode = build_encoder(config, self.words.output_size, config.dropout)
        self.heads = nn.ModuleList(_head(config, self.encode.output_size, tagset) for tagset in tagsets)

    def forward(self, words: WordBatch) -> Float[Tensor, "B T H"]:
        return self.read(self.words(words), words.mask)

    def read(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B T H"]:
        """y_{1:n} from what is known of each word."""
        ys: Tensor = self.encode(self.drop(xs), mask)[0]
        return ys


def _head(config: TaggerConfig, size: int, tagset: Tagset) -> nn.Module:
    count, allowed, output = len(tagset.labels), tagset.constraints(), output_of(config, tagset)
    if output == "softmax":
        return SoftmaxHead(size, count)
    if output == "crf":
        return CRFHead(size, count, allowed)
    cell = get_cell(config.cell)(size + config.tag_size, config.hidden)
    return AutoregressiveHead(cell, count, allowed, features=config.tag_size, beam=config.beam)


def output_of(config: TaggerConfig, tagset: Tagset) -> str:
    """The output layer of a column."""
    if config.output == "auto":
        return "crf" if tagset.trained else "softmax"
    return config.output
