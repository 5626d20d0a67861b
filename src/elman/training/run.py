"""The usual consumer of ``fit``: checkpoints, a log, something to look at, an end on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from types import FrameType
from typing import Any

from elman.training.checkpoint import load, save
from elman.training.distributed import leads, restarted, world
from elman.training.events import Checkpoint, End, Event, Update
from elman.training.log import Board, Log
from elman.training.progress import display
from elman.training.snapshot import Snapshot

CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"


def resumption(folder: Path, config: Mapping[str, Any], *, asked: bool) -> Snapshot | None:
    """What ``fit`` is to resume from: the folder's checkpoint if that was asked for.

    A run that torchrun started again after it lost a process goes on from its checkpoint unasked.
    Rank 0 reads it for all.
    """
    path = folder / CHECKPOINT
    if leads() and (asked or (restarted() and path.exists())):
        return load(path, config)
    return None


def run(
    events: Generator[Event, None, None],
    folder: Path,
    config: Mapping[str, Any],
    *,
    unit: str = "examples",
    tensorboard: bool = False,
) -> End | None:
    """Follow a run to its end, or until Ctrl-C or SIGTERM: then it is saved, and None returned.

    ``config`` is what a resumed run must have in common with this one. ``folder`` gets the
    checkpoint, the log and TensorBoard's files; in all but the first of several processes nothing
    is written or shown.
    """
    with ExitStack() as stack:
        stack.enter_context(closing(events))
        signals = stack.enter_context(Signals())
        writer = None
        if leads():
            writer = stack.enter_context(closing(Writer(folder, config, unit, tensorboard)))
        for event in events:
            if writer:
                writer.show(event)
            if isinstance(event, End):
                return event
            if isinstance(event, Checkpoint):
                stop = world().any(signals.asked)
                if event.due or stop:
                    snapshot = event.snapshot()  # of all processes, whoever writes it
                    if writer:
                        writer.save(snapshot)
                if writer and stop:
                    writer.say(f"stopped after update {event.number}; it can be resumed from there")
                if stop:
                    return None
    return None


class Writer:
    """All that a run leaves behind, on disk and on the screen."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], unit: str, tensorboard: bool
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CHECKPOINT
        self.config = config
        self.logs: list[Log | Board] = [Log(folder / METRICS)]
        if tensorboard:
            self.logs.append(Board(folder / "tensorboard"))
        self.display = display(unit)

    def show(self, event: Event) -> None:
        if isinstance(event, Update) and event.number == 1:
            self.path.unlink(missing_ok=True)  # of another run; this one has nothing to resume yet
        for log in self.logs:
            log.show(event)
        self.display.show(event)

    def say(self, text: str) -> None:
        self.display.say(text)

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint, after all that was logged before it."""
        for log in self.logs:
            log.flush()
        save(self.path, snapshot, self.config)

    def close(self) -> None:
        for log in self.logs:
            log.close()
        self.display.close()


class Signals:
    """Whether Ctrl-C or SIGTERM asked to stop; a second one does what it does elsewhere."""

    def __init__(self) -> None:
        self.asked = False
        self.before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.before[number] = signal.signal(number, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        signal.signal(number, self.before[signal.Signals(number)])
