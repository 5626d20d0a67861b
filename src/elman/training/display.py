"""What people see of a run, on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any, Protocol, cast, runtime_checkable

from elman.number_format import format_clock, format_number, format_scores
from elman.training.events import Evaluation, Event, TrainingEnd, Update


@runtime_checkable
class DisplayStream(Protocol):
    """Where text can be shown: stderr, or what stands for it."""

    def write(self, text: str, /) -> int: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


def make_display(unit: str, stream: DisplayStream | None = None) -> LineDisplay | BarDisplay:
    """The display that suits the stream; ``unit`` is what weights are counted in."""
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            return BarDisplay(unit, stream)
        except ImportError:  # rich is an aid, not a need
            pass
    return LineDisplay(unit, stream)


class Pace:
    """How fast a run is, and how long it will take, by the updates seen."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.begun: tuple[float, float] | None = None
        self.recent: deque[tuple[float, float]] = deque(maxlen=100)
        self.left = 0.0

    def see(self, event: Event) -> None:
        now = self.clock()
        if isinstance(event, Evaluation):
            self.recent.clear()  # the speed is that of training
        if not isinstance(event, Update):
            return
        self.recent.append((now, event.weight))
        self.begun = self.begun or (now, event.progress)
        done = event.progress - self.begun[1]
        self.left = (now - self.begun[0]) / done * (1 - event.progress) if done > 0 else 0.0

    @property
    def speed(self) -> float:
        """Weight a second."""
        if len(self.recent) < 2 or self.recent[-1][0] <= self.recent[0][0]:
            return 0.0
        weight = sum(weight for _, weight in list(self.recent)[1:])
        return weight / (self.recent[-1][0] - self.recent[0][0])


class LineDisplay:
    """A line an evaluation, and one every ten seconds."""

    def __init__(self, unit: str, stream: DisplayStream, every: float = 10.0) -> None:
        self.unit, self.stream, self.every = unit, stream, every
        self.pace = Pace()
        self.said = self.pace.clock()

    def show(self, event: Event) -> None:
        self.pace.see(event)
        if isinstance(event, Update) and self.pace.clock() - self.said >= self.every:
            self.said = self.pace.clock()
            self.say(_update(event, self.pace, self.unit))
        elif isinstance(event, Evaluation):
            self.say(_evaluation(event))
        elif isinstance(event, TrainingEnd):
            self.say(_end(event))

    def say(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def close(self) -> None:
        self.stream.flush()


class BarDisplay:
    """A bar at the bottom of the terminal, the evaluations above it."""

    def __init__(self, unit: str, stream: DisplayStream) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.unit, self.pace, self.metric = unit, Pace(), ""
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f}%"))
        self.bar = Progress(*columns, console=Console(file=cast("IO[str]", stream)))
        self.task: Any = self.bar.add_task("", total=1.0)
        self.bar.start()

    def show(self, event: Event) -> None:
        self.pace.see(event)
        if isinstance(event, Update):
            text = _update(event, self.pace, self.unit, self.metric)
            self.bar.update(self.task, completed=event.progress, description=text)
        elif isinstance(event, Evaluation):
            self.metric = format_scores({event.metric: event.scores[event.metric]})
            self.say(_evaluation(event))
        elif isinstance(event, TrainingEnd):
            self.bar.update(self.task, completed=1.0)
            self.say(_end(event))

    def say(self, text: str) -> None:
        self.bar.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        self.bar.stop()


def _update(event: Update, pace: Pace, unit: str, metric: str = "") -> str:
    """What is known at an update."""
    loss = format_number(event.loss)
    parts = [f"epoch {event.epoch:,}  update {event.number:,}  loss {loss}", metric]
    if speed := pace.speed:
        parts.append(f"{speed:,.0f} {unit}/s")
    if round(pace.left):
        parts.append(f"{format_clock(pace.left)} left")
    return "  ".join(part for part in parts if part)


def _evaluation(event: Evaluation) -> str:
    return f"update {event.number:,}  {_scores(event)}{'  (best)' if event.best else ''}"


def _end(event: TrainingEnd) -> str:
    scores = _scores(event)
    done = {name: f"all {name} done" for name in ("epochs", "updates")}
    why = {**done, "minutes": "the time is up", "patience": "early stopping", "failure": "the run failed"}
    best = "; best: " if event.best_update else "; nothing is better than the model it began with: "
    return f"{why[event.reason]} after update {event.number:,}{best if scores else ''}{scores}"


def _scores(event: Evaluation | TrainingEnd) -> str:
    return format_scores(event.scores, between="  ")
