"""What people see of a run in a notebook: a bar while it runs, then its evaluations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import Any

from elman.training.event_lines import describe_end, describe_evaluation, describe_update
from elman.training.events import Evaluation, Event, TrainingEnd, Update
from elman.training.pace import Pace

SHOWN = 10  # lines below the bar
EVERY = 0.3  # seconds between two pictures of the bar

NotebookOutput = Callable[[dict[str, str]], None]  # takes the same thing as HTML and as text, by MIME type


def find_notebook_output() -> NotebookOutput | None:
    """A place below the running cell whose contents can be replaced; None outside notebooks."""
    ipython: Any = sys.modules.get("IPython")
    if not hasattr(ipython and ipython.get_ipython(), "kernel"):
        return None
    handle = ipython.display.display({"text/plain": ""}, raw=True, display_id=True)
    return lambda content: handle.update(content, raw=True)


class NotebookDisplay:
    """A bar and the last evaluations; at the end the evaluations alone, without any time."""

    def __init__(self, unit: str, output: NotebookOutput) -> None:
        self.unit, self.output, self.pace = unit, output, Pace()
        self.lines: list[str] = []
        self.drawn = -EVERY

    def show(self, event: Event) -> None:
        self.pace.see(event)
        if isinstance(event, Update) and self.pace.clock() - self.drawn >= EVERY:
            self.drawn = self.pace.clock()
            self._draw(event)
        elif isinstance(event, Evaluation):
            self.say(describe_evaluation(event))
        elif isinstance(event, TrainingEnd):
            self.say(describe_end(event))

    def say(self, text: str) -> None:
        self.lines.append(text)
        self._draw()

    def close(self) -> None:
        self._draw()

    def _draw(self, event: Update | None = None) -> None:
        before = [f"… {len(self.lines) - SHOWN} lines before"] if len(self.lines) > SHOWN else []
        text = "\n".join([*before, *self.lines[-SHOWN:]])
        bar = ""
        if event is not None:
            said = escape(describe_update(event, self.pace, self.unit))
            bar = f'<progress max="1" value="{event.progress:.3f}"></progress> {said}'
        self.output({"text/html": f"{bar}<pre>{escape(text)}</pre>", "text/plain": text})
