"""The network of a classifier, and its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from elman.cells import named
from elman.errors import ConfigError
from elman.layers.dropout import SequenceDropout
from elman.layers.encoder import recurrent
from elman.layers.pooling import Mean, Window, pool
from elman.layers.words import Words
from elman.shapes import Bool, Float, Tensor
from elman.tasks.lexicon import Lexicon
from elman.tasks.settings import positive, share
from elman.tasks.words import WordModel


@dataclass(frozen=True)
class Model(WordModel):
    """The network: embed, encode, pool, decide."""

    encoder: Literal["rnn", "bag", "window"] = "rnn"  # bag: averaged words; window: the first words
    cell: str = "lstm"
    hidden: int = 128  # units of each direction
    layers: int = 1
    bidirectional: bool = True
    pool: Literal["last", "ends", "mean", "max", "mean+max", "attention"] = "max"
    window: int = 20  # words that the window sees
    mlp: int = 0  # units of a layer before the decision; 0: none
    input: Literal["embedding", "one-hot"] = "embedding"
    dropout: float = 0.4
    smoothing: float = 0.0  # share of the probability that is spread over all labels
    balanced: bool = False  # rare labels count as much as frequent ones
    adversarial: float = 0.0  # trained on the worst words, too, within so large a step of these

    def __post_init__(self) -> None:
        super().__post_init__()
        named(self.cell)
        for name in ("hidden", "layers", "window"):
            positive(name, getattr(self, name))
        for name in ("dropout", "smoothing"):
            share(name, getattr(self, name))
        if self.adversarial < 0:
            raise ConfigError(f"adversarial is {self.adversarial}; it must be at least 0")
        if self.pool == "ends" and not self.bidirectional and self.encoder == "rnn":
            raise ConfigError("pool is 'ends', which is for two directions; take 'last' for one")
        if self.vectors and self.input == "one-hot":
            raise ConfigError("vectors are given, but input is 'one-hot'")


class Network(nn.Module):
    """Logits of all labels for each row of ids."""

    def __init__(self, model: Model, lexicon: Lexicon, labels: int) -> None:
        super().__init__()
        self.words = lexicon.layer(model, one_hot=model.input == "one-hot")
        self.drop = SequenceDropout(model.dropout)
        size = self.words.output_size
        if model.encoder == "rnn":
            make = named(model.cell)
            self.encode = recurrent(
                make,
                (size, model.hidden),
                layers=model.layers,
                bidirectional=model.bidirectional,
                dropout=model.dropout,
            )
            size = self.encode.output_size
            self.pool, size = pool(model.pool, size, bidirectional=model.bidirectional)
        elif model.encoder == "bag":
            self.pool = Mean()
        else:
            self.pool, size = Window(model.window), model.window * size
        hidden: list[nn.Module] = []
        if model.mlp:
            hidden = [nn.Linear(size, model.mlp), nn.ReLU(), nn.Dropout(model.dropout)]
        self.decide = nn.Sequential(*hidden, nn.Linear(model.mlp or size, labels))

    def forward(self, words: Words) -> Float[Tensor, "B Y"]:
        return self.judge(self.words(words), words.mask)

    def judge(self, xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B Y"]:
        """Logits from what is known of each word."""
        xs = self.drop(xs)
        if hasattr(self, "encode"):
            xs, _ = self.encode(xs, mask)
        logits: Tensor = self.decide(self.pool(xs, mask))
        return logits
