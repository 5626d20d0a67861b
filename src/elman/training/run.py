"""The usual consumer of ``fit``: checkpoints, a log, something to look at, an end on Ctrl-C."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from elman.errors import ElmanError
from elman.files.model_files import CHECKPOINT, METRICS_LOG
from elman.interruption import defer_signals, unhurried
from elman.memory_errors import refuse_shortage
from elman.training.checkpoint import load_checkpoint, save_checkpoint
from elman.training.display import make_display
from elman.training.distributed import get_world, is_main_process, was_restarted
from elman.training.events import Checkpoint, Event, TrainingEnd, Update
from elman.training.metrics_log import MetricsLog
from elman.training.snapshot import Snapshot
from elman.training.tracking import TrackerLog, updates_before


def find_resume_point(
    folder: Path, config: Mapping[str, Any], *, asked: bool, changeable: Collection[str] = ()
) -> Snapshot | None:
    """The folder's checkpoint, if that was asked for or torchrun restarted the run; rank 0 reads it for all."""
    path = folder / CHECKPOINT
    if is_main_process() and (asked or (was_restarted() and path.exists())):
        return load_checkpoint(path, config, changeable)
    return None


def follow(
    events: Generator[Event, None, None],
    folder: Path,
    config: Mapping[str, Any],
    *,
    unit: str = "examples",
    trackers: Sequence[TrackerLog] = (),
    log: str = METRICS_LOG,
    second: bool = False,
) -> TrainingEnd | None:
    """Follow a run to its end, or until Ctrl-C, SIGTERM or SIGHUP: then it is saved, and None returned.

    ``config`` is what a resumed run must have in common with this one. ``folder`` gets the checkpoint and the
    log, the trackers get the same numbers; all but the first of several processes write and show nothing.
    The ``second`` phase of a run leaves the checkpoint of the first until it has one of its own.
    """
    with ExitStack() as stack:
        stack.enter_context(closing(events))
        signals = stack.enter_context(defer_signals())
        writer = None
        if is_main_process():
            logs: list[MetricsLog | TrackerLog] = [MetricsLog(folder / log), *trackers]
            writer = stack.enter_context(closing(RunWriter(folder / CHECKPOINT, config, unit, logs, second)))
        try:
            return _consume(events, writer, signals)
        except ElmanError as error:
            error.args = (f"{error}{writer.resume_hint() if writer else ''}",)
            raise


def _consume(
    events: Generator[Event, None, None], writer: RunWriter | None, signals: Sequence[int]
) -> TrainingEnd | None:
    event = next(events, None)
    while event is not None:
        try:
            if writer:
                writer.show(event)
            if isinstance(event, Checkpoint) and _save(event, writer, stop=get_world().any(bool(signals))):
                return None
        except ElmanError as error:  # of a disk that is full
            event = events.throw(error)  # the run ends with its best weights, if it has any
            continue
        if isinstance(event, TrainingEnd):
            hint = writer.resume_hint() if writer and event.failure else ""
            return replace(event, failure=event.failure + hint)
        event = next(events, None)
    return None


def _save(event: Checkpoint, writer: RunWriter | None, *, stop: bool) -> bool:
    """Save the run where that is due or it is to stop; whether it is."""
    if event.due or stop:
        with refuse_shortage("while a checkpoint was made"):
            snapshot = event.snapshot()  # of all processes, whoever writes it
            if writer:
                writer.save(snapshot, event.number)
    if writer and stop:
        writer.display.say(f"stopped after update {event.number:,}; it can be resumed from there")
    return stop


class RunWriter:
    """All that a run leaves behind, on disk and on the screen."""

    def __init__(
        self,
        path: Path,
        config: Mapping[str, Any],
        unit: str,
        logs: Sequence[MetricsLog | TrackerLog],
        second: bool,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.config, self.second = path, config, second
        self.saved: int | None = None  # the update of the checkpoint; 0: there is none
        self.display = make_display(unit)
        self.logs = logs
        for log in logs:
            if isinstance(log, TrackerLog):
                log.say = self.display.say

    def show(self, event: Event) -> None:
        if self.saved is None:
            self.saved = updates_before(event)  # of a run that was resumed
        if isinstance(event, Update) and event.number == 1 and not self.second:
            self.path.unlink(missing_ok=True)  # of another run; this one has nothing to resume yet
        for part in (*self.logs, self.display):
            part.show(event)

    def save(self, snapshot: Snapshot, number: int) -> None:
        """Write a checkpoint, after all that was logged before it."""
        with unhurried():
            for log in self.logs:
                log.flush()
            save_checkpoint(self.path, snapshot, self.config)
            self.saved = number

    def resume_hint(self) -> str:
        """What a run that failed left to go on from, for the end of a sentence."""
        if not self.saved:
            return ""
        resume = "--resume goes on from there, also with another lr or grad_clip"
        return f"; the last checkpoint is of update {self.saved:,}: {resume}"

    def close(self) -> None:
        with unhurried():
            for part in (*self.logs, self.display):
                part.close()
