"""What an evaluation knows of each example: what it adds to the scores, how long it is, what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from torch import nn

from elman.errors import ConfigError
from elman.metrics import CountedScore
from elman.shapes import Float, Tensor
from elman.tasks.results import Report

Shares = npt.NDArray[np.float64]


class Mistake(NamedTuple):
    """A wrong answer."""

    example: int  # its number in the dataset
    record: Mapping[str, Any]  # where it is, the text, what is right, what the model said, how sure it was
    rank: float  # mistakes are shown from the highest on
    about: Any = None  # what the task needs to explain it; None: it cannot be explained


class MistakeTrace(NamedTuple):
    """Some mistakes before they are explained, all at once.

    ``margins`` runs ``embedding`` once, on rows of tokens, and gives log p(answer) - log p(right answer) of
    each mistake. ``split`` finds in what each token of each row weighs (R, T) the weights of each mistake's
    tokens.
    """

    tokens: list[list[str]]  # of each mistake
    embedding: nn.Module
    margins: Callable[[], Float[Tensor, " N"]]
    split: Callable[[Shares], list[Shares]]


@dataclass(frozen=True, eq=False)
class Judgement:
    """An evaluation, example by example."""

    report: Report
    unit: str  # of what is judged: examples, sentences, lines
    count: Callable[[], Mapping[str, CountedScore]]  # the scores; only some who look need them
    tokens: npt.NDArray[np.int64]  # that each example has
    unseen: npt.NDArray[np.int64] | None  # of these, words that training did not know; None: not words
    right: npt.NDArray[np.bool_] | None = None  # None: nothing is right or wrong
    vocabulary: tuple[str, ...] = ()  # where scores a token are only comparable with the same tokens
    mistakes: Callable[[], list[Mistake]] | None = None  # the surest or worst first
    trace: Callable[[Sequence[Mistake]], MistakeTrace] | None = None

    @cached_property
    def scores(self) -> Mapping[str, CountedScore]:
        """What each example adds to the scores."""
        return self.count()

    def find_mistakes(self) -> list[Mistake]:
        """All wrong answers, the surest or worst first."""
        if self.mistakes is None:
            raise ConfigError("a language model has no wrong answers; elman score shows what surprised it")
        return sorted(self.mistakes(), key=lambda mistake: -mistake.rank)
