"""A table as all readers hand it on: its columns, and its rows one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from elman.errors import quote_list


class TableRow(NamedTuple):
    """One row. What cannot be read as a row has a ``problem`` and no cells."""

    number: int  # of its first line in the file, or of the row where there are no lines; from 1
    cells: tuple[Any, ...]
    raw: str | None = None  # the text of the record as it stands in the file, line end included
    problem: str = ""


class Missing(NamedTuple):
    """A cell for which a JSON object has no key."""

    keys: tuple[str, ...]  # those it has

    def __str__(self) -> str:
        return quote_list(self.keys) or "none"


@dataclass(frozen=True)
class Table:
    """A source that is open; it is iterated once, row after row, and never held in memory as a whole."""

    name: str  # for messages
    columns: tuple[str, ...] | None  # None: there is no header
    rows: Iterable[TableRow]
    header: str | None = None  # what stands in the file before the first row, as it stands
    delimiter: str | None = None  # between the cells of a text file
    quotes: bool = False  # whether cells of a text file may stand between quotes
    encoding: str = "utf-8"  # of a text file, as it was read
    format: str = ""  # what it was read as: csv, jsonl, …; "lines": files of lines; "": rows in memory
    schema: Any = None  # of Arrow, where it has one
    notes: tuple[str, ...] = ()  # what a person should know of how it was read
    line: int | None = None  # of the header, or of the first row
    width: int | None = None  # how many columns the first row has, where there is no header
    first: tuple[Any, ...] = ()  # that row

    def __iter__(self) -> Iterator[TableRow]:
        return iter(self.rows)

    @property
    def where(self) -> str:
        """The place of its beginning in messages."""
        return self.name if self.line is None else f"{self.name}:{self.line}"
