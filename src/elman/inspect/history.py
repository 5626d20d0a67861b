"""How a model was trained, from the log of its training (``metrics.jsonl``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.errors import ModelError


@dataclass(frozen=True)
class EvaluationRecord:
    """The scores after an update; None for a score that was not finite."""

    update: int
    epoch: int
    scores: dict[str, float | None]
    best: bool  # better than all before


@dataclass(frozen=True)
class TrainingHistory:
    """A training run, update by update."""

    updates: npt.NDArray[np.int64]  # (N,)
    losses: npt.NDArray[np.float64]  # (N,), NaN where it was not finite
    epochs: int
    evaluations: list[EvaluationRecord]

    @property
    def best(self) -> EvaluationRecord | None:
        """The evaluation whose weights were kept."""
        return next((e for e in reversed(self.evaluations) if e.best), None)


def read_history(path: Path) -> TrainingHistory:
    """The run that a log tells of; an empty one was not logged."""
    updates, losses, epoch = [], [], 0
    evaluations: list[EvaluationRecord] = []
    for number, row in _rows(path):
        try:
            if "scores" in row:
                scores, best = dict(row["scores"]), bool(row["best"])
                evaluations.append(EvaluationRecord(int(row["update"]), epoch, scores, best))
            else:
                updates.append(int(row["update"]))
                losses.append(nan if row["loss"] is None else float(row["loss"]))
                epoch = int(row["epoch"])
        except (KeyError, TypeError, ValueError):
            raise _damage(path, number, "an update or its scores") from None
    return TrainingHistory(np.array(updates, np.int64), np.array(losses), epoch, evaluations)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                raise _damage(path, number, "a JSON object")
            yield number, row


def _damage(path: Path, number: int, expected: str) -> ModelError:
    return ModelError(f"{path}:{number}: the file is damaged, expected {expected}")


def running_mean(values: npt.NDArray[np.float64], width: int) -> npt.NDArray[np.float64]:
    """The mean of each value and the up to ``width`` - 1 before it."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - width, 0)
    means: npt.NDArray[np.float64] = (total[ends] - total[starts]) / (ends - starts)
    return means
