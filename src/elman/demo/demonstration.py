"""What a demonstration says of itself; the command line plays it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from elman.demo.source_files import DataSplit, split_by_hash

T = TypeVar("T")


class ResultTable(NamedTuple):
    """The model beside its baselines."""

    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str


@dataclass(frozen=True)
class Demo(ABC, Generic[T]):
    """A task on data that is there already; some keys are held out."""

    data: Mapping[str, T]
    minutes: float  # that it may train at most; 0: until its updates are done, the same in each run

    share: ClassVar[int] = 20  # one of so many keys is held out to choose the best weights, one to judge by
    extension: ClassVar[str]  # of its files
    ask: ClassVar[str]  # what one may type, said before the prompt
    next_commands: ClassVar[tuple[str, ...]]  # {model} and {test} stand for paths

    @property
    @abstractmethod
    def about(self) -> str:
        """What is learnt, from what."""

    @abstractmethod
    def recipe(self, folder: Path) -> dict[str, Any]:
        """Write the data into a folder, and say how to train on it."""

    @abstractmethod
    def results(self, model: Any) -> ResultTable:
        """Scores on what was held out."""

    @abstractmethod
    def examples(self, model: Any) -> Iterator[str]:
        """Lines that show what the model does with text that it has not seen."""

    @abstractmethod
    def answer(self, model: Any, text: str) -> str:
        """What the model makes of a line that somebody typed."""

    @abstractmethod
    def file_text(self, part: str) -> str:
        """The file of a part: train, valid or test."""

    def pictures(self, model: Any, folder: Path) -> Iterator[Path]:
        """Draw into a folder what can be drawn; mostly words say it."""
        return iter(())

    def commands(self, folder: Path) -> list[str]:
        """What to type next."""
        test = quote(str(folder / "data" / f"test.{self.extension}"))
        return [line.format(model=quote(str(folder)), test=test) for line in self.next_commands]

    def write_files(self, folder: Path) -> dict[str, str]:
        """Write all parts; the paths to train on, as a recipe names them."""
        paths = {part: folder / f"{part}.{self.extension}" for part in DataSplit._fields}
        for part, path in paths.items():
            path.write_text(self.file_text(part), encoding="utf-8")
        return {part: str(paths[part]) for part in ("train", "valid")}

    def keys(self, part: str) -> list[str]:
        """The keys of a part, in the order of the alphabet."""
        return list(getattr(self._split, part))

    @cached_property
    def _split(self) -> DataSplit:
        return split_by_hash(sorted(self.data), self.share)
