"""Cells side by side on sequences of four times the length that they were trained on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from elman.cells import count_parameters
from elman.errors import ConfigError
from elman.inspect.compared_cells import resolve_cells
from elman.inspect.equal_size import fit_width
from elman.inspect.length_tasks import LR, TASKS, score_task, train_task
from elman.inspect.text_comparison import PARAMETERS, make_char_model
from elman.inspect.training_budget import TrainingBudget
from elman.ranges import PositiveFloat, PositiveInt, Seed, Size, check_ranges

FURTHER = 4  # times the longest sequence of training


@dataclass(frozen=True)
class LengthResult:
    """What one cell achieved: right answers in percent by task, and by the length of the sequences."""

    cell: str
    widths: dict[str, int]
    right: dict[str, dict[int, float]]
    updates: dict[str, int]
    seconds: float
    seed: int


@dataclass(frozen=True)
class LengthComparison:
    """Parity and copying, trained on up to ``length`` symbols; ``run`` compares cells by name."""

    length: PositiveInt = 32
    updates: PositiveInt = 600  # of each task
    seed: Seed = 0
    width: Size | None = None  # units of each cell; else nets have the same number of parameters
    parameters: PositiveInt | None = None  # of each net, nearly: 50,000 unless a width is given
    minutes: PositiveFloat | None = None  # of training, shared equally by cells and tasks, instead of updates
    lr: PositiveFloat = LR  # at the beginning; it falls to zero
    device: str = "cpu"

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.width is not None and self.parameters is not None:
            raise ConfigError("width and parameters exclude each other: nets are equal in one of them")

    def run(self, cells: Sequence[Any]) -> Iterator[LengthResult]:
        """One result a cell, as soon as it is there; `resolve_cells` says what a cell may be."""
        makers = resolve_cells(cells)
        each = None if self.minutes is None else 60 * self.minutes / len(makers) / len(TASKS)
        budget, lengths = TrainingBudget(self.updates, each), (self.length, FURTHER * self.length)
        for name, make in makers.items():
            start = time.perf_counter()
            right: dict[str, dict[int, float]] = {}
            updates, widths = dict[str, int](), dict[str, int]()
            for task, (examples, symbols) in TASKS.items():
                width = self._find_width(make, symbols)
                net = make_char_model(make, width, symbols, self.seed).to(self.device)
                updates[task] = train_task(net, examples, self.length, self.seed, budget, lr=self.lr)
                right[task] = {n: score_task(net, examples, n, self.seed) for n in lengths}
                widths[task] = width
            yield LengthResult(name, widths, right, updates, time.perf_counter() - start, self.seed)

    def _find_width(self, make: Any, symbols: int) -> int:
        if self.width is not None:
            return self.width
        wanted = PARAMETERS if self.parameters is None else self.parameters
        return fit_width(lambda width: count_parameters(make_char_model(make, width, symbols, 0)), wanted)
