"""The network of a classifier: embed, encode, pool, decide."""

from __future__ import annotations

from elman.layers.embedding import LockedDropout
from elman.layers.pooling import MeanPooling, WindowPooling, build_pooling
from elman.shapes import Bool, Float, Tensor
from elman.tasks.classifier.config import ClassifierConfig
from elman.tasks.label_network import LabelNetwork, build_decision, build_encoder
from elman.tasks.word_features import WordFeaturizer


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
