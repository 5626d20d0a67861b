"""Examples that a program holds: lists of tuples or mappings, data frames, datasets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elman.errors import DataError

StrPath = str | os.PathLike[str]


class InMemory(str):
    """Rows in the place of a file: a recipe has it where it has a path, in ``data.train`` and the like."""

    rows: list[Any]

    @classmethod
    def hold(cls, source: Any) -> str | tuple[str, ...]:
        """A source for a recipe. A path, or a tuple of paths, is one already; all else is rows."""
        if isinstance(source, str | os.PathLike):
            return os.fspath(source)
        if isinstance(source, tuple) and all(isinstance(p, str | os.PathLike) for p in source):
            return tuple(map(os.fspath, source))
        is_frame = hasattr(source, "to_dict") and hasattr(source, "columns")  # of pandas
        return cls._of(source.to_dict("records") if is_frame else list(source))

    @classmethod
    def _of(cls, rows: list[Any]) -> InMemory:
        if not rows:
            raise DataError("there are no examples")
        held = cls("examples in memory")
        held.rows = rows
        return held

    def hold_out(self, share: float) -> tuple[InMemory, InMemory]:
        """All rows but the last so large share, and these."""
        cut = len(self.rows) - max(1, int(len(self.rows) * share))
        return self._of(self.rows[:cut]), self._of(self.rows[cut:])

    def lines(self) -> Iterator[str]:
        """Rows that are lines of a text."""
        for number, row in enumerate(self.rows, 1):
            if not isinstance(row, str):
                raise DataError(f"{self}:{number}: expected a line of text, got {row!r}")
            yield row

    def take(self, columns: Sequence[str]) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """The asked-for columns of every row with its number: of a mapping by name, of a tuple all."""
        for number, row in enumerate(self.rows, 1):
            if hasattr(row, "_asdict"):
                row = row._asdict()
            if isinstance(row, Mapping):
                if missing := [name for name in columns if name not in row]:
                    there = ", ".join(map(str, row))
                    raise DataError(f"{self}:{number}: no column {missing[0]!r}; there are {there}")
                yield number, tuple(row[name] for name in columns)
            elif isinstance(row, tuple | list) and len(row) == len(columns):
                yield number, tuple(row)
            else:
                raise DataError(f"{self}:{number}: expected ({', '.join(columns)}), got {row!r}")

    def take_texts(self, columns: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The same, all of it text that says something."""
        for number, values in self.take(columns):
            for name, value in zip(columns, values, strict=True):
                if not isinstance(value, str) or not value.strip():
                    raise DataError(f"{self}:{number}: {name} is {value!r}; it must be some text")
            yield number, values
