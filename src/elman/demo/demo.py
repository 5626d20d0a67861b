"""What a demonstration says of itself; the command line plays it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Table(NamedTuple):
    """The model beside its baselines."""

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str


@runtime_checkable
class Demo(Protocol):
    """A task on data that is there already. It holds that data and how many minutes it may train."""

    @property
    def about(self) -> str:
        """What is learnt, from what."""

    @property
    def ask(self) -> str:
        """What one may type, said before the prompt."""

    def recipe(self, folder: Path) -> dict[str, Any]:
        """Write the data into a folder, and say how to train on it."""

    def results(self, model: Any) -> Table:
        """Scores on what was held out."""

    def examples(self, model: Any) -> Iterator[str]:
        """Lines that show what the model does with text that it has not seen."""

    def answer(self, model: Any, text: str) -> str:
        """What the model makes of a line that somebody typed."""

    def pictures(self, model: Any, folder: Path) -> Iterator[Path]:
        """Draw into a folder what can be drawn."""

    def commands(self, folder: Path) -> list[str]:
        """What to type next."""
