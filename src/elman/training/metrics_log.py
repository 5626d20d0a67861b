"""Where the numbers of a run are kept: ``metrics.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import IO, Any

from elman.errors import ModelError
from elman.files.atomic_files import sync
from elman.training.events import Evaluation, Event, Update


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
            self.file = _open(self.path, _position(event))
        if (row := _row(event)) is not None:
            with self._naming_the_file():
                self.file.write(json.dumps(row).encode() + b"\n")

    def flush(self) -> None:
        """Make all lines durable; to be done before a checkpoint that comes after them."""
        if self.file is not None:
            with self._naming_the_file():
                sync(self.file)

    def close(self) -> None:
        if self.file is not None:
            with suppress(OSError):  # lines after the last checkpoint, which a resumed run writes again
                self.file.close()

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ModelError(f"{self.path} cannot be written: {error.strerror or error}") from None


def _position(event: Event) -> float:
    """Where in the log an event stands that is the first of a session: an evaluation comes after its update."""
    half = isinstance(event, Evaluation) / 2
    return event.number + half if isinstance(event, Update | Evaluation) else event.number + 1


def _open(path: Path, end_position: float) -> IO[bytes]:
    """The log, cut before the lines that stand at this position or later."""
    path.touch()
    file = open(path, "rb+")  # noqa: SIM115
    end = 0
    for line in file:
        if not line.endswith(b"\n") or _line_position(line) >= end_position:
            break
        end += len(line)
    file.seek(end)
    file.truncate()
    return file


def _line_position(line: bytes) -> float:
    try:
        row = json.loads(line)
        return float(row["update"]) + ("scores" in row) / 2
    except (ValueError, KeyError, TypeError, RecursionError):
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
