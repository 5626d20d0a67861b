"""The usual consumer of ``fit``: checkpoints, a log, something to look at, an end on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from elman.model_files import CHECKPOINT, METRICS_LOG
from elman.training.checkpoint import load_checkpoint, save_checkpoint
from elman.training.display import make_display
from elman.training.distributed import get_world, is_main_process, was_restarted
from elman.training.events import Checkpoint, Event, TrainingEnd, Update
from elman.training.metrics_log import MetricsLog
from elman.training.snapshot import Snapshot
from elman.training.tracking import TrackerLog, open_log


def find_resume_point(folder: Path, config: Mapping[str, Any], *, asked: bool) -> Snapshot | None:
    """The folder's checkpoint, if that was asked for or torchrun restarted the run; rank 0 reads it for all."""
    path = folder / CHECKPOINT
    if is_main_process() and (asked or (was_restarted() and path.exists())):
        return load_checkpoint(path, config)
    return None


def follow(
    events: Generator[Event, None, None],
    folder: Path,
    config: Mapping[str, Any],
    *,
    unit: str = "examples",
    trackers: Sequence[str] = (),
) -> TrainingEnd | None:
    """Follow a run to its end, or until Ctrl-C or SIGTERM: then it is saved, and None returned.

    ``config`` is what a resumed run must have in common with this one. ``folder`` gets the checkpoint and the
    log, the trackers get the same numbers; all but the first of several processes write and show nothing.
    """
    with ExitStack() as stack:
        stack.enter_context(closing(events))
        signals = stack.enter_context(stop_signals())
        writer = None
        if is_main_process():
            writer = stack.enter_context(closing(RunWriter(folder, config, unit, trackers)))
        for event in events:
            if writer:
                writer.show(event)
            if isinstance(event, TrainingEnd):
                return event
            if isinstance(event, Checkpoint):
                stop = get_world().any(bool(signals))
                if event.due or stop:
                    snapshot = event.snapshot()  # of all processes, whoever writes it
                    if writer:
                        writer.save(snapshot)
                if writer and stop:
                    writer.display.say(f"stopped after update {event.number:,}; it can be resumed from there")
                if stop:
                    return None
    return None


class RunWriter:
    """All that a run leaves behind, on disk and on the screen."""

    def __init__(self, folder: Path, config: Mapping[str, Any], unit: str, trackers: Sequence[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CHECKPOINT
        self.config = config
        self.display = make_display(unit)
        self.logs: list[MetricsLog | TrackerLog] = [MetricsLog(folder / METRICS_LOG)]
        self.logs += [open_log(name, folder, config, self.display.say) for name in trackers]

    def show(self, event: Event) -> None:
        if isinstance(event, Update) and event.number == 1:
            self.path.unlink(missing_ok=True)  # of another run; this one has nothing to resume yet
        for part in (*self.logs, self.display):
            part.show(event)

    def save(self, snapshot: Snapshot) -> None:
        """Write a checkpoint, after all that was logged before it."""
        for log in self.logs:
            log.flush()
        save_checkpoint(self.path, snapshot, self.config)

    def close(self) -> None:
        for part in (*self.logs, self.display):
            part.close()


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Those of Ctrl-C and SIGTERM that asked to stop; a second one does what it does elsewhere."""
    asked: list[int] = []
    before: dict[int, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        signal.signal(number, before[number])

    if threading.current_thread() is threading.main_thread():
        for which in (signal.SIGINT, signal.SIGTERM):
            before[which] = signal.signal(which, ask)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
