"""Cells side by side on a text of one's own: bits per character of a small language model of each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from elman.cells import CellMaker, count_parameters
from elman.errors import ConfigError, DataError
from elman.inspect.char_model import EMBEDDING, LR, CharModel, CharText, bits_per_character, train_char_model
from elman.inspect.compared_cells import resolve_cells
from elman.inspect.equal_size import fit_width
from elman.inspect.training_budget import TrainingBudget
from elman.ranges import PositiveFloat, PositiveInt, Seed, Size, check_ranges
from elman.text.byte_source import Source, display_name
from elman.text.files import read_raw_lines

PARAMETERS = 50_000  # of each model, unless another number or a width is asked for
SHORTEST = 2_000  # characters of a text
POINTS = 10  # of a learning curve


@dataclass(frozen=True)
class TextResult:
    """What one cell achieved on a text; bits per character of its held-out end."""

    cell: str
    width: int
    parameters: int  # of the whole model
    bits: float  # infinite where training diverged
    updates: int
    seconds: float
    seed: int
    curve: list[tuple[int, float]]  # updates, and the bits after them


@dataclass(frozen=True)
class TextComparison:
    """How models of a text are made equal, and how long they are trained; ``run`` compares cells by name."""

    updates: PositiveInt = 400  # of 32 × 64 characters
    seed: Seed = 0
    width: Size | None = None  # units of each cell; else models have the same number of parameters
    parameters: PositiveInt | None = None  # of each model, nearly: 50,000 unless a width is given
    minutes: PositiveFloat | None = None  # of training, shared equally among the cells, instead of updates
    lr: PositiveFloat = LR  # at the beginning; it falls to zero
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.width is not None and self.parameters is not None:
            raise ConfigError("width and parameters exclude each other: models are equal in one of them")

    def run(self, cells: Sequence[Any], text: CharText) -> Iterator[TextResult]:
        """One result a cell, as soon as it is there; `resolve_cells` says what a cell may be."""
        makers = resolve_cells(cells)
        widths = {name: self._width(make, text.characters) for name, make in makers.items()}
        seconds = None if self.minutes is None else 60 * self.minutes / len(makers)
        budget = TrainingBudget(self.updates, seconds)
        for name, width in widths.items():
            net = make_char_model(makers[name], width, text.characters, self.seed).to(self.device)
            start = time.perf_counter()
            curve = _learn(net, text, budget, self.lr)
            seconds, size = time.perf_counter() - start, count_parameters(net)
            updates, bits = curve[-1]
            yield TextResult(name, width, size, bits, updates, seconds, self.seed, curve)

    def _width(self, make: CellMaker, characters: int) -> int:
        if self.width is not None:
            return self.width
        wanted = PARAMETERS if self.parameters is None else self.parameters
        return fit_width(lambda width: count_parameters(make_char_model(make, width, characters, 0)), wanted)


def _learn(net: CharModel, text: CharText, budget: TrainingBudget, lr: float) -> list[tuple[int, float]]:
    """The learning curve: updates, and the bits per character after them; the last point is the result."""
    curve: list[tuple[int, float]] = []
    for spent, updates in train_char_model(net, text, budget, lr=lr):
        if spent >= len(curve) / POINTS:
            curve.append((updates, bits_per_character(net, text)))
    return curve


def make_char_model(make: CellMaker, width: int, characters: int, seed: int) -> CharModel:
    """An untrained model, its weights drawn from ``seed``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CharModel(make(EMBEDDING, width), characters)


def read_char_text(source: Source) -> CharText:
    """A file, or ``-``, with its line ends; one that is too short to compare anything on is refused."""
    text = "".join(line for _, line in read_raw_lines(source))
    if len(text) < SHORTEST:
        raise DataError(
            f"{display_name(source)}: {len(text):,} characters are too few to compare cells on; take a text of "
            f"{SHORTEST:,} and more"
        )
    return CharText.of(text)
