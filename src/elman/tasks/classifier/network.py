"""The network of a classifier and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from elman.errors import ConfigError
from elman.layers.embedding import LockedDropout
from elman.layers.long_texts import join_chunks, keep_ends, split_chunks
from elman.layers.ngrams import NGramModel
from elman.layers.pooling import MeanPooling, WindowPooling, build_pooling
from elman.layers.word_layer import WordBatch
from elman.ranges import OptionalSize, Size
from elman.shapes import Bool, Float, Tensor
from elman.tasks.label_network import LabelConfig, LabelNetwork, build_decision
from elman.tasks.word_batch import build_encoder
from elman.tasks.word_features import WordFeaturizer


@dataclass(frozen=True)
class ClassifierConfig(LabelConfig):
    """The network: embed, encode, pool, decide."""

    encoder: Literal["rnn", "bag", "window"] = "rnn"  # bag: averaged words; window: the first words
    window: Size = 20  # words that the window sees
    input: Literal["embedding", "one-hot"] = "embedding"
    ngrams: bool = False  # a linear model of words and pairs of words beside the network
    max_tokens: OptionalSize = 0  # of a longer text the beginning and the end are read, so many in all; 0: all
    chunk: OptionalSize = 0  # tokens after which the layers begin anew, all chunks at once; 0: never

    changeable: ClassVar[frozenset[str]] = LabelConfig.changeable | {"max_tokens", "chunk"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.zoneout or self.residual) and self.encoder != "rnn":
            raise ConfigError("zoneout and residual are for layers of cells: set encoder to 'rnn'")
        if self.pool == "ends" and not self.bidirectional and self.encoder == "rnn":
            raise ConfigError("pool is 'ends', which is for two directions; take 'last' for one")
        if self.vectors and self.input == "one-hot":
            raise ConfigError("vectors are given, but input is 'one-hot'")
        if self.chunk and (self.encoder != "rnn" or self.pool in ("last", "ends")):
            raise ConfigError("chunk needs cells, and a pool over all tokens: mean, max, mean+max or attention")

    @property
    def fixed_vocabulary(self) -> bool:
        return self.input == "one-hot"  # layers are as wide as the vocabulary


class ClassifierNetwork(LabelNetwork):
    """Logits of all labels for each row of ids.

    Beside a model of n-grams, each is trained by itself, and what they say is mixed: z = α z_rnn + β z_ngrams.
    """

    ngrams: NGramModel | None
    mix: Tensor | None  # α and β

    def __init__(self, config: ClassifierConfig, featurizer: WordFeaturizer, labels: int) -> None:
        super().__init__()
        self.max_tokens, self.chunk = config.max_tokens, config.chunk
        self.words = featurizer.layer(config, one_hot=config.input == "one-hot")
        self.drop = LockedDropout(config.dropout)
        size = self.words.output_size
        if config.encoder == "rnn":
            self.encode = build_encoder(config, size, config.dropout)
            size = self.encode.output_size
            self.pool, size = build_pooling(config.pool, size, bidirectional=config.bidirectional)
        elif config.encoder == "bag":
            self.pool = MeanPooling()
        else:
            self.pool, size = WindowPooling(config.window), config.window * size
        self.decide = build_decision(config, size, labels)
        self.ngrams = NGramModel(0, labels) if config.ngrams else None  # it is fitted to the training data
        # Until calibration the network counts alone: a mixture is good so early that it would end the training.
        self.register_buffer("mix", torch.tensor([1.0, 0.0]) if config.ngrams else None)

    def forward(self, words: WordBatch) -> Float[Tensor, "B Y"]:
        logits = super().forward(words)
        if self.ngrams is None or self.mix is None or self.training:
            return logits
        beside: Tensor = self.ngrams(words)
        return self.mix[0] * logits + self.mix[1] * beside

    def logits(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B Y"]:
        if self.max_tokens:
            xs, mask = keep_ends(xs, mask, self.max_tokens)
        xs = self.drop(xs)
        if hasattr(self, "encode"):
            xs = self._read(xs, mask)
        logits: Tensor = self.decide(self.pool(xs, mask))
        return logits

    def _read(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B T H"]:
        chunked = 0 < self.chunk < xs.shape[1]
        ys, _ = self.encode(*(split_chunks(xs, mask, self.chunk) if chunked else (xs, mask)))
        return join_chunks(ys, mask) if chunked else ys
