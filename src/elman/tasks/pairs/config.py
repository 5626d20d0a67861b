"""The options of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.tasks.label_data import LabelDataConfig
from elman.tasks.label_network import LabelConfig


@dataclass(frozen=True)
class PairsDataConfig(LabelDataConfig):
    """Where the pairs are: a table, or a file of first texts, one of second texts and one of labels."""

    format: Literal["", "tsv", "csv", "jsonl"] = ""  # "": by the ending
    first: str = "first"  # column: a name, or a number from 1
    second: str = "second"


@dataclass(frozen=True)
class PairsConfig(LabelConfig):
    """The network: read both texts with the same weights, compare, decide."""

    attention: Literal["none", "soft"] = "none"  # soft: each word is compared with those like it
    characters: Literal["", "cnn", "lstm"] = "cnn"
    hidden: int = 64  # units of each direction
    pool: Literal["last", "mean", "max", "mean+max", "attention"] = "max"
    mlp: int = 128
