"""The network of a tagger: embed, encode, a head for each column."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from elman.cells import get_cell, with_zoneout
from elman.layers.embedding import LockedDropout
from elman.layers.encoder import build_stacked_rnn
from elman.layers.word_layer import WordBatch
from elman.shapes import Float, Tensor
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.config import TaggerConfig
from elman.tasks.tagger.heads import CRFHead, SoftmaxHead
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.word_features import WordFeaturizer


class TaggerNetwork(nn.Module):
    """y_{1:n} of each sentence, and a head for each column that reads them."""

    def __init__(self, config: TaggerConfig, featurizer: WordFeaturizer, tagsets: Sequence[Tagset]) -> None:
        super().__init__()
        self.words = featurizer.layer(config)
        self.drop = LockedDropout(config.dropout)
        self.encode = build_stacked_rnn(
            with_zoneout(get_cell(config.cell), config.zoneout),
            (self.words.output_size, config.hidden),
            layers=config.layers,
            bidirectional=config.bidirectional,
            dropout=config.dropout,
            residual=config.residual,
        )
        self.heads = nn.ModuleList(_head(config, self.encode.output_size, tagset) for tagset in tagsets)

    def forward(self, words: WordBatch) -> Float[Tensor, "B T H"]:
        ys: Tensor = self.encode(self.drop(self.words(words)), words.mask)[0]
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
