"""The asked-for columns of every row of a table, as text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from elman.errors import DataError
from elman.text.tables.bad_rows import BadRows
from elman.text.tables.cell_text import CellError, cell_text, is_nothing, shorten
from elman.text.tables.column_names import find_columns
from elman.text.tables.open_table import open_table
from elman.text.tables.table import Missing, TableRow
from elman.text.tables.table_report import TableReport, publish_report

V = TypeVar("V")


class TableRows:
    """Numbered rows of a source: iterate once, then ask for the `report`.

    ``wanted`` has for each role the name or number of its column. A row that cannot be used is refused,
    together with all others of its kind at the end, or left out where ``skip_bad``. Cells are texts that say
    something; those of roles ``as_is`` may be empty, or whatever the source holds.
    """

    def __init__(
        self,
        source: Any,
        wanted: Mapping[str, str],
        *,
        format: str | None = None,
        encoding: str = "utf-8",
        skip_bad: bool = False,
        as_is: Collection[str] = (),
    ) -> None:
        self.table = open_table(source, format=format, encoding=encoding, wanted=wanted)
        self._wanted, self._skip_bad, self._as_is = wanted, skip_bad, as_is
        self.places = find_columns(self.table, wanted)
        self._bad, self._count = BadRows(self.table.name), 0

    def __iter__(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        return self.check(lambda *values: values)

    def check(self, make: Callable[..., V]) -> Iterator[tuple[int, V]]:
        """What ``make`` makes of the values of each row; one that it refuses by a `CellError` is a bad row."""
        rows = 0
        for row in self.table:
            rows += 1
            try:
                made = make(*self._take(row))
            except CellError as error:
                self._bad.add(row.number, str(error), error.kind)
            else:
                self._count += 1
                yield row.number, made
        if not rows:
            raise DataError(f"{self.table.name}: the file has no rows")
        if not self._skip_bad or not self._count:
            self._bad.refuse(rows)

    @property
    def roles(self) -> tuple[str, ...]:
        """What the values of a row are, in order."""
        return tuple(self._wanted)

    @property
    def report(self) -> TableReport:
        """What was read so far."""
        table = self.table
        said = () if table.format == "lines" else zip(self._wanted, map(self._say, self.places), strict=True)
        names = dict(said)
        return TableReport(table.name, self._count, names, table.notes, skipped=dict(self._bad.counts))

    def _take(self, row: TableRow) -> Iterator[Any]:
        """The values of a row."""
        if row.problem:
            raise CellError(row.problem)
        columns = self.table.columns
        if columns is None and self.table.width is None and len(row.cells) != len(self._wanted):
            raise CellError(f"expected ({', '.join(self._wanted)}), got {shorten(row.cells)}")
        for role, place in zip(self._wanted, self.places, strict=True):
            value = row.cells[place]
            if role in self._as_is:
                yield None if isinstance(value, Missing) else value
                continue
            column = columns[place] if columns else self._wanted[role]
            if isinstance(value, Missing):
                raise CellError(f"no key {column!r}; the object's keys are {value}", f"without {role}")
            if is_nothing(text := cell_text(value, column)):
                raise CellError(f"column {column!r} is empty", f"without {role}")
            yield text

    def _say(self, place: int) -> str:
        columns = self.table.columns
        return f'"{columns[place]}"' if columns else f"column {place + 1}"


def read_rows(
    source: Any,
    columns: Sequence[str] | Mapping[str, str] = ("text", "label"),
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    skip_bad: bool = False,
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The asked-for columns of every row of a table with the number of its (first) line.

    ``columns`` are roles, or for each role the name or number of the column that somebody chose for it. A
    source is whatever `open_table` takes. All bad rows are refused together at the end, unless ``skip_bad``.
    """
    wanted = columns if isinstance(columns, Mapping) else {name: name for name in columns}
    rows = TableRows(source, wanted, format=format, encoding=encoding, skip_bad=skip_bad)
    yield from rows
    publish_report(rows.report)
