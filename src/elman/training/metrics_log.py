"""Where the numbers of a run are kept: ``metrics.jsonl``, and TensorBoard for those who want it."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import IO, Any

from elman.atomic_files import sync
from elman.errors import ConfigError
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
            self.file = _open(self.path, _before(event))
        if (row := _row(event)) is not None:
            self.file.write(json.dumps(row).encode() + b"\n")

    def flush(self) -> None:
        """Make all lines durable; to be done before a checkpoint that comes after them."""
        if self.file is not None:
            sync(self.file)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


class TensorBoardLog:
    """The same numbers for TensorBoard."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError:
            raise ConfigError("TensorBoard is not installed; pip install 'elman[track]'") from None
        self.open = SummaryWriter
        self.folder = folder
        self.writer: Any = None

    def show(self, event: Event) -> None:
        if self.writer is None:
            self.writer = self.open(str(self.folder), purge_step=_before(event) + 1)
        if isinstance(event, Update):
            for name in ("loss", "lr", "norm"):
                self.writer.add_scalar(f"training/{name}", getattr(event, name), event.number)
        elif isinstance(event, Evaluation):
            for name, value in event.scores.items():
                self.writer.add_scalar(f"validation/{name}", value, event.number)

    def flush(self) -> None:
        if self.writer is not None:
            self.writer.flush()

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _before(event: Event) -> int:
    """The number of updates before the first event of a run."""
    return event.number - 1 if isinstance(event, Update) else event.number


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
