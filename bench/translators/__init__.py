"""The systems that bench/translate.py compares: each is a ``Translator`` in a process of its own.

What stands here is all that JoeyNMT's environment sees of us, so it needs nothing but Python.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Job:
    """What all systems have in common. Encoders read in both directions with ``hidden`` units in each."""

    hidden: int  # units of a layer, and features of a token
    layers: int
    dropout: float
    label_smoothing: float
    lr: float  # of Adam, from the first update to the last
    clip: float
    batch: int  # tokens of both sides, padding included: ours
    sentences: int  # pairs of such a batch on average: JoeyNMT's, which does not sort by length
    beam: int
    decoded: int  # sentences that are written about at a time
    threads: int

    def store(self, folder: Path) -> None:
        (folder / "job.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> Job:
        return cls(**json.loads((folder / "job.json").read_text()))


@dataclass(frozen=True)
class Burst:
    """Some training without a pause."""

    seconds: float
    updates: int
    tokens: int  # that were written: of targets, ends included, padding not


@dataclass(frozen=True)
class Translations:
    """Answers to all that is held out, as subwords with blanks between."""

    seconds: float
    texts: list[str]


class Translator(Protocol):
    """A model with its data: train.en, train.fr and test.en in a folder, subwords with blanks between."""

    @property
    def parameters(self) -> int: ...

    def train(self, seconds: float) -> Burst:
        """Go on until so many seconds are over, for one update at least."""

    def translate(self) -> Translations:
        """Answers by beam search."""


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
