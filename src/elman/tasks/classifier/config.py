"""The options of a classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.errors import ConfigError
from elman.tasks.config import positive
from elman.tasks.label_network import LabelConfig


@dataclass(frozen=True)
class ClassifierConfig(LabelConfig):
    """The network: embed, encode, pool, decide."""

    encoder: Literal["rnn", "bag", "window"] = "rnn"  # bag: averaged words; window: the first words
    window: int = 20  # words that the window sees
    input: Literal["embedding", "one-hot"] = "embedding"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("window", self.window)
        if (self.zoneout or self.residual) and self.encoder != "rnn":
            raise ConfigError("zoneout and residual are for layers of cells: set encoder to 'rnn'")
        if self.pool == "ends" and not self.bidirectional and self.encoder == "rnn":
            raise ConfigError("pool is 'ends', which is for two directions; take 'last' for one")
        if self.vectors and self.input == "one-hot":
            raise ConfigError("vectors are given, but input is 'one-hot'")
