"""What exposure bias is measured on: batches of a task's data, so many sequences of them at most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elman.decoding.generative import Generative
from elman.inspect.exposure import Exposure, exposure
from elman.tasks.generative import generative
from elman.tasks.kinds import Task
from elman.tasks.language.generative import Continuations, Window
from elman.tasks.language_model import LanguageModel
from elman.text.streams import Streams

ROWS, STEPS = 50, 32  # sequences side by side; tokens of a piece of running text


def measured(task: Task, data: Any, *, most: int = 1000, own: int = 8) -> Exposure:
    """The exposure bias of a model on encoded data, of which ``most`` sequences are looked at."""
    view = generative(task)
    return exposure(view, _batches(task, view, data, most), own)


def _batches(task: Task, view: Generative[Any], data: Any, most: int) -> Iterator[Any]:
    if isinstance(task, LanguageModel):
        yield from _windows(task, data, most)
        return
    made: Any = view
    some = [i * len(data) // min(most, len(data)) for i in range(min(most, len(data)))]
    ordered = sorted(some, key=lambda i: data.lengths[i])
    for first in range(0, len(ordered), ROWS):
        yield made.batch(data.pick(ordered[first : first + ROWS]))


def _windows(task: LanguageModel, data: Any, most: int) -> Iterator[Window]:
    """Pieces of the text, each after all that comes before it in its stream."""
    view = Continuations(task)
    rows = max(1, min(ROWS, len(data) // (4 * STEPS)))
    state, seen = task.net.begin(rows), 0
    for batch in map(task.batch, Streams(data.ids, rows, STEPS, first=task.end)()):
        if seen >= most:
            return
        seen += rows
        window = Window(batch, state)
        task.net.eval()
        state = view.following(window)
        yield window
