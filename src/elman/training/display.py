"""What people see of a run: a bar on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import IO, Any, Protocol, cast, runtime_checkable

from elman.number_format import format_scores
from elman.training.event_lines import describe_end, describe_evaluation, describe_update
from elman.training.events import Evaluation, Event, TrainingEnd, Update
from elman.training.notebook_display import NotebookDisplay, find_notebook_output
from elman.training.pace import Pace


@runtime_checkable
class DisplayStream(Protocol):
    """Where text can be shown: stderr, or what stands for it."""

    def write(self, text: str, /) -> int: ...
    def flush(self) -> None: ...
    def isatty(self) -> bool: ...


def make_display(unit: str, stream: DisplayStream | None = None) -> LineDisplay | BarDisplay | NotebookDisplay:
    """The display that suits the stream, stderr or the cell of a notebook if none is given.

    ``unit`` is what weights are counted in.
    """
    if stream is None and (output := find_notebook_output()) is not None:
        return NotebookDisplay(unit, output)
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            return BarDisplay(unit, stream)
        except ImportError:  # rich is an aid, not a need
            pass
    return LineDisplay(unit, stream)


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
            self.say(describe_update(event, self.pace, self.unit))
        elif isinstance(event, Evaluation):
            self.say(describe_evaluation(event))
        elif isinstance(event, TrainingEnd):
            self.say(describe_end(event))

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
            text = describe_update(event, self.pace, self.unit, self.metric)
            self.bar.update(self.task, completed=event.progress, description=text)
        elif isinstance(event, Evaluation):
            self.metric = format_scores({event.metric: event.scores[event.metric]})
            self.say(describe_evaluation(event))
        elif isinstance(event, TrainingEnd):
            self.bar.update(self.task, completed=1.0)
            self.say(describe_end(event))

    def say(self, text: str) -> None:
        self.bar.console.print(text, markup=False, highlight=False)

    def close(self) -> None:
        self.bar.stop()
