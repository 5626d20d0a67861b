"""Where the numbers of a run are kept: ``metrics.jsonl``."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import IO, Any

from elman.atomic_files import sync
from elman.training.events import Evaluation, Event, Update
from elman.training.tracking import updates_before


class MetricsLog:
    """``metrics.jsonl``: a line for each update and each evaluation.

    A resumed run first drops what was logged after its checkpoint: the file ends up as that of a
    run that was never interrupted. No line tells the time, for the same reason.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file: IO[bytes] | None = None

    def show(self, event: Event) -> None:
        if self.file is None:
            self.file = _open(self.path, updates_before(event))
        if (row := _row(event)) is not None:
            self.file.write(json.dumps(row).encode() + b"\n")

    def flush(self) -> None:
        """Make all lines durable; to be done before a checkpoint that comes after them."""
        if self.file is not None:
            sync(self.file)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


def _open(path: Path, updates: int) -> IO[bytes]:
    """The log, cut after the lines of its first ``updates`` updates."""
    path.touch()
    file = open(path, "rb+")  # noqa: SIM115
    end = 0
    for line in file:
        if not line.endswith(b"\n") or _number(line) > updates:
            break
        end += len(line)
    file.seek(end)
    file.truncate()
    return file


def _number(line: bytes) -> float:
    try:
        return float(json.loads(line)["update"])
    except (ValueError, KeyError, TypeError):
        return float("inf")


def _row(event: Event) -> dict[str, Any] | None:
    if isinstance(event, Update):
        numbers = {name: _finite(getattr(event, name)) for name in ("loss", "lr", "norm")}
        return {"update": event.number, "epoch": event.epoch, **numbers}
    if isinstance(event, Evaluation):
        scores = {name: _finite(value) for name, value in event.scores.items()}
        return {"update": event.number, "scores": scores, "best": event.best}
    return None


def _finite(value: float) -> float | None:
    """JSON has no word for what is not finite."""
    return value if isfinite(value) else None
