"""What bench/defaults.py compares: corpora as plain files, the plain command, and the best alternatives to it.

The alternatives choose their settings on validation data, fit once more on all training data, and see the test
data once. They are installed by the extra `bench`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

OURS = "elman"
LOWER_IS_BETTER = ("perplexity", "bits_per_character")


@dataclass(frozen=True)
class BenchSet:
    """A corpus as files that the command line reads."""

    name: str
    task: str  # classifier, tagger, lm or seq2seq
    metric: str  # of `elman evaluate`, or of `score_texts` for seq2seq
    train: Path
    test: Path
    valid: Path | None = None
    options: tuple[str, ...] = ()  # of the command: what the files hold, nothing else


@dataclass(frozen=True)
class Outcome:
    """What one system reached on one corpus with one seed."""

    corpus: str
    system: str
    seed: int
    metric: str
    score: float
    seconds: float  # of processor time, to train the model that is delivered
    details: dict[str, Any] = field(default_factory=dict)  # settings that were chosen, seconds of the search

    @property
    def key(self) -> tuple[str, str, int]:
        return self.corpus, self.system, self.seed

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


Baseline = Callable[[BenchSet, int, float], Outcome]
"""Train on a corpus with a seed, for so many minutes where the time is to be said, and score the test data."""
