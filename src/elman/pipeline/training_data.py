"""The data of a recipe, read: to train on, to validate on, to test on."""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple

from elman.number_format import format_percent, format_size
from elman.pipeline.recipe import Recipe
from elman.text.tables import TableReport, collect_reports, log_report
from elman.training.distributed import is_main_process


class TrainingData(NamedTuple):
    """Examples as their task reads them; ``test`` is None where there are none."""

    training: Any
    held: Any
    test: Any
    reports: list[TableReport]


def read_data(recipe: Recipe) -> TrainingData:
    """All examples of a recipe; what was read of them, and what stands on both sides, is said."""
    kind = recipe.task_class
    with collect_reports() as reports:
        if recipe.data.folds:
            training, held, test = kind.split_fold(recipe.data)
        else:
            training, held = kind.split(recipe.data)
            test = kind.read_test(recipe.data)
        training = kind.take_share(training, recipe.data.share)
    if is_main_process():
        for report in reports:
            log_report(report)
        kind.warn_of_overlap(training, held if recipe.data.valid else None, test)
        training, held = (kind.with_progress(part, ReadProgress()) for part in (training, held))
    return TrainingData(training, held, test, reports)


class ReadProgress:
    """How far a large text is read, on stderr every few seconds."""

    def __init__(self) -> None:
        self.latest = time.monotonic()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self.latest < 5:
            return
        self.latest = time.monotonic()
        share = f", {format_percent(done / total)}" if total else ""
        print(f"{what}: {format_size(done)} of text{share}", file=sys.stderr, flush=True)
