"""How long a cell is trained that is compared with others: so many updates, or so many seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from elman.ranges import PositiveFloat, PositiveInt, check_ranges


@dataclass(frozen=True)
class TrainingBudget:
    """``turns`` gives, for each update, how much of the budget is spent and how much there is of it."""

    updates: PositiveInt
    seconds: PositiveFloat | None = None  # instead of the updates

    def __post_init__(self) -> None:
        check_ranges(self)

    def turns(self) -> Iterator[tuple[float, float]]:
        """(spent, all), at least once: updates that were made, or seconds that have passed."""
        if self.seconds is None:
            yield from ((i, self.updates) for i in range(self.updates))
            return
        start, spent = time.perf_counter(), 0.0
        while spent < self.seconds:
            yield spent, self.seconds
            spent = time.perf_counter() - start
