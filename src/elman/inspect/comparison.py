"""Cells side by side: a long-range memory task, a task with little data, gradients through time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from elman.cells import FormulaCell, count_parameters, get_cell
from elman.inspect.comparison_tasks import (
    EMBEDDING,
    HIDDEN,
    accuracy,
    memory_examples,
    spelling_examples,
    train_memory,
    train_spelling,
)
from elman.inspect.gradients import Norms, gradient_norms
from elman.ranges import PositiveInt, Seed, check_ranges


@dataclass(frozen=True)
class ComparisonResult:
    """What one cell achieved; accuracies in percent on held-out data."""

    cell: str
    parameters: int
    memory: float
    little_data: float
    seconds: float
    norms: Norms  # ‖dL/ds_t‖ after training on the memory task, t = 0 … n


@dataclass(frozen=True)
class Comparison:
    """The size of the two tasks; ``run`` compares cells by name."""

    steps: PositiveInt = 50
    memory_updates: PositiveInt = 600
    words: PositiveInt = 400
    little_updates: PositiveInt = 200
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_ranges(self)

    def run(self, cells: list[str]) -> Iterator[ComparisonResult]:
        """One result a cell, as soon as it is there."""
        makers = [get_cell(name) for name in cells]  # an unknown name is said before any work
        held_out = memory_examples(1000, self.steps, self.seed + 10_000_000)
        noisy = memory_examples(16, self.steps, self.seed + 20_000_000)
        spelling = spelling_examples(self.seed)
        unseen = spelling.rows(torch.arange(self.words, len(spelling.labels)))
        for name, make in zip(cells, makers, strict=True):
            start = time.perf_counter()
            recall = train_memory(make, steps=self.steps, updates=self.memory_updates, seed=self.seed)
            words, updates = self.words, self.little_updates
            speller = train_spelling(make, spelling, words=words, updates=updates, seed=self.seed)
            seconds = time.perf_counter() - start
            scores = accuracy(recall, held_out), accuracy(speller, unseen)
            size = count_parameters(recall.rnn.cell)
            norms = gradient_norms(recall.rnn.cell, recall.embed(noisy.ids), seed=self.seed)
            yield ComparisonResult(name, size, *scores, seconds, norms)


def gradient_curves(
    cells: list[str], *, steps: int = 100, gain: float = 1.6, seed: int = 0
) -> dict[str, Norms]:
    """‖dL/ds_t‖ by untrained cell. All start with the same recurrent weights: orthogonal, times ``gain``."""
    xs = torch.randn(16, steps, EMBEDDING, generator=torch.Generator().manual_seed(seed))
    curves = {}
    for name in cells:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            cell = get_cell(name)(EMBEDDING, HIDDEN)
        assert isinstance(cell, FormulaCell)
        for U in cell.U:
            U.data.mul_(gain)
        curves[name] = gradient_norms(cell, xs, seed=seed)
    return curves
