"""Cells side by side: a long-range memory task, a task with little data, gradients through time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from elman.cells import CellMaker, FormulaCell, count_parameters, get_cell
from elman.errors import ConfigError
from elman.inspect.compared_cells import resolve_cells
from elman.inspect.comparison_tasks import (
    EMBEDDING,
    Learner,
    accuracy,
    memory_examples,
    spelling_examples,
    train_memory,
    train_spelling,
)
from elman.inspect.equal_size import fit_width
from elman.inspect.gradients import Norms, gradient_norms
from elman.inspect.training_budget import TrainingBudget
from elman.ranges import PositiveFloat, PositiveInt, Seed, Size, check_ranges

WIDTH = 32  # units of a cell, unless another width is asked for
_LONG_TASK = 0.8  # of the time of a cell: the memory task has longer sequences


@dataclass(frozen=True)
class ComparisonResult:
    """What one cell achieved; accuracies in percent on held-out data."""

    cell: str
    width: int
    parameters: int
    memory: float
    little_data: float
    seconds: float
    norms: Norms  # ‖dL/ds_t‖ after training on the memory task, t = 0 … n
    seed: int
    memory_by_length: dict[int, float]  # over so many symbols of noise; ``memory`` is the longest's


@dataclass(frozen=True)
class Comparison:
    """The size of the two tasks and of the cells; ``run`` compares cells by name."""

    steps: PositiveInt = 50  # symbols of noise, at most
    memory_updates: PositiveInt = 600
    words: PositiveInt = 400
    little_updates: PositiveInt = 200
    seed: Seed = 0
    lengths: tuple[PositiveInt, ...] = ()  # of noise to test on, the longest instead of ``steps``
    width: Size | None = None  # units of each cell: 32, unless ``parameters`` says how many
    parameters: PositiveInt | None = None  # of each cell, nearly: its width follows
    minutes: PositiveFloat | None = None  # of training, shared equally among the cells, instead of updates

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.width is not None and self.parameters is not None:
            raise ConfigError("width and parameters exclude each other: cells are equal in one of them")

    def run(self, cells: Sequence[Any]) -> Iterator[ComparisonResult]:
        """One result a cell, as soon as it is there; `resolve_cells` says what a cell may be."""
        makers = resolve_cells(cells)
        learners = {name: Learner(make, self._width(make), self.seed) for name, make in makers.items()}
        tested = sorted({*self.lengths}) or [self.steps]
        held_out = {n: memory_examples(1000, n, self.seed + 10_000_000) for n in tested}
        noisy = memory_examples(16, tested[-1], self.seed + 20_000_000)
        spelling = spelling_examples(self.seed)
        unseen = spelling.rows(torch.arange(self.words, len(spelling.labels)))
        long, short = self._budgets(len(learners))
        for name, learner in learners.items():
            start = time.perf_counter()
            recall = train_memory(learner, tested[-1], long)
            speller = train_spelling(learner, spelling, self.words, short)
            seconds = time.perf_counter() - start
            by_length = {n: accuracy(recall, some) for n, some in held_out.items()}
            size = learner.width, count_parameters(recall.rnn.cell)
            scores = by_length[tested[-1]], accuracy(speller, unseen)
            norms = gradient_norms(recall.rnn.cell, recall.embed(noisy.ids), seed=self.seed)
            yield ComparisonResult(name, *size, *scores, seconds, norms, self.seed, by_length)

    def _width(self, make: CellMaker) -> int:
        if self.parameters is None:
            return self.width or WIDTH
        with torch.random.fork_rng(devices=[]):
            return fit_width(lambda width: count_parameters(make(EMBEDDING, width)), self.parameters)

    def _budgets(self, cells: int) -> tuple[TrainingBudget, TrainingBudget]:
        """Of the memory task and of the one with little data."""
        if self.minutes is None:
            return TrainingBudget(self.memory_updates), TrainingBudget(self.little_updates)
        each = 60 * self.minutes / cells
        return (
            TrainingBudget(self.memory_updates, _LONG_TASK * each),
            TrainingBudget(self.little_updates, (1 - _LONG_TASK) * each),
        )


def gradient_curves(
    cells: list[str], *, steps: int = 100, gain: float = 1.6, seed: int = 0
) -> dict[str, Norms]:
    """‖dL/ds_t‖ by untrained cell. All start with the same recurrent weights: orthogonal, times ``gain``."""
    xs = torch.randn(16, steps, EMBEDDING, generator=torch.Generator().manual_seed(seed))
    curves = {}
    for name in cells:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            cell = get_cell(name)(EMBEDDING, WIDTH)
        assert isinstance(cell, FormulaCell)
        for U in cell.U:
            U.data.mul_(gain)
        curves[name] = gradient_norms(cell, xs, seed=seed)
    return curves
