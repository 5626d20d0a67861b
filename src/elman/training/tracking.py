"""Where the numbers of a run are sent for those who compare runs: TensorBoard, Weights & Biases, MLflow."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from elman.errors import ConfigError
from elman.training.events import Evaluation, Event, TrainingEnd, Update

_LOG = logging.getLogger(__name__)


@runtime_checkable
class Tracker(Protocol):
    """A place for numbers; to make one imports its package, to ``open`` it begins a run there."""

    def open(self, updates: int) -> None:
        """Begin, or go on after so many updates."""

    def log(self, numbers: Mapping[str, float], update: int) -> None:
        """Take the numbers of an update."""

    def flush(self) -> None:
        """Send all that was taken."""

    def close(self, *, finished: bool) -> None:
        """End; a run that is not ``finished`` may be gone on with."""


class TrackerLog:
    """Sends what events say to a tracker. When that fails it is said once, and the run goes on without it."""

    def __init__(self, name: str, tracker: Tracker) -> None:
        self.name, self.tracker = name, tracker
        self.say: Callable[[str], None] = _LOG.warning  # until a run has a display
        self.opened = self.failed = self.finished = False

    def show(self, event: Event) -> None:
        if not self.opened:
            self.opened = True
            self._try(self.tracker.open, updates_before(event))
        if numbers := event_numbers(event):
            self._try(self.tracker.log, numbers, event.number)
        self.finished = isinstance(event, TrainingEnd)

    def flush(self) -> None:
        if self.opened:
            self._try(self.tracker.flush)

    def close(self) -> None:
        if self.opened:
            self._try(self.tracker.close, finished=self.finished)

    def _try(self, call: Callable[..., None], *arguments: Any, **options: Any) -> None:
        if self.failed:
            return
        try:
            call(*arguments, **options)
        except Exception as error:  # whatever a server or a disk does: numbers are lost, the model is not
            self.failed = True
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            self.say(f"{self.name} gets no more numbers ({reason}); the training goes on")


def event_numbers(event: Event) -> dict[str, float]:
    """What is told of an update or an evaluation; the same names everywhere."""
    if isinstance(event, Update):
        return {f"training/{name}": getattr(event, name) for name in ("loss", "lr", "norm")}
    if isinstance(event, Evaluation):
        return {f"validation/{name}": value for name, value in event.scores.items()}
    return {}


def updates_before(event: Event) -> int:
    """The number of updates before the first event of a run."""
    return event.number - 1 if isinstance(event, Update) else event.number


def open_log(name: str, folder: Path, config: Mapping[str, Any]) -> TrackerLog:
    """The log of a tracker by its name; a package that is missing is a ConfigError."""
    from elman.training import trackers  # the packages themselves are imported by what is made here

    made: dict[str, tuple[Callable[..., Tracker], str]] = {
        "tensorboard": (trackers.TensorBoardTracker, "track"),
        "wandb": (trackers.WandbTracker, "wandb"),
        "mlflow": (trackers.MLflowTracker, "mlflow"),
    }
    make, extra = made[name]
    try:
        return TrackerLog(name, make(folder, config))
    except ImportError:
        missing = f"{name} is asked for, but not installed"
        raise ConfigError(f'{missing}: pip install "elman[{extra}]", or leave it out') from None
