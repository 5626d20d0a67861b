"""The options of a tagger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from elman.cells import get_cell
from elman.tasks.config import positive, require_layers, share
from elman.tasks.word_batch import WordFeaturesConfig


@dataclass(frozen=True)
class TaggerConfig(WordFeaturesConfig):
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
    zoneout: float = 0.0  # share of the units that keep their state at a step
    residual: bool = False  # layers above the first add to what they read
    word_dropout: float = 0.1
    characters: Literal["", "cnn", "lstm"] = "cnn"
    casing: bool = True
    affixes: int = 3

    changeable: ClassVar[frozenset[str]] = WordFeaturesConfig.changeable | {
        *("dropout", "zoneout", "loss", "beam")
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        get_cell(self.cell)
        for name in ("hidden", "layers", "tag_size", "beam"):
            positive(name, getattr(self, name))
        share("dropout", self.dropout)
        share("zoneout", self.zoneout)
        require_layers(self.residual, self.layers)
