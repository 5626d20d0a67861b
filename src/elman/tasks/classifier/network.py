"""The network of a classifier and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.errors import ConfigError
from elman.layers.embedding import LockedDropout
from elman.layers.pooling import MeanPooling, WindowPooling, build_pooling
from elman.ranges import Size
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.zoneout or self.residual) and self.encoder != "rnn":
            raise ConfigError("zoneout and residual are for layers of cells: set encoder to 'rnn'")
        if self.pool == "ends" and not self.bidirectional and self.encoder == "rnn":
            raise ConfigError("pool is 'ends', which is for two directions; take 'last' for one")
        if self.vectors and self.input == "one-hot":
            raise ConfigError("vectors are given, but input is 'one-hot'")

    @property
    def fixed_vocabulary(self) -> bool:
        return self.input == "one-hot"  # layers are as wide as the vocabulary


class ClassifierNetwork(LabelNetwork):
    """Logits of all labels for each row of ids."""

    def __init__(self, config: ClassifierConfig, featurizer: WordFeaturizer, labels: int) -> None:
        super().__init__()
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

    def logits(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B Y"]:
        xs = self.drop(xs)
        if hasattr(self, "encode"):
            xs, _ = self.encode(xs, mask)
        logits: Tensor = self.decide(self.pool(xs, mask))
        return logits
