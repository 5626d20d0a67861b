"""The first row of a table: does it name the columns, or is it a row like others?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain

from elman.errors import DataError
from elman.text.tables.column_names import is_header
from elman.text.tables.table import Table, TableRow

_MOST = 100  # rows that cannot be read before one that can


def take_header(table: Table, wanted: Mapping[str, str]) -> Table:
    """The table with the names in its first readable row, if they are names; all rows must be as wide as it."""
    rows = iter(table)
    bad: list[TableRow] = []
    first = next(rows, None)
    while first is not None and first.problem and len(bad) < _MOST:
        bad.append(first)
        first = next(rows, None)
    if first is None and not bad:
        raise DataError(f"{table.name}: the file has no rows")
    if first is None or first.problem:
        return replace(table, rows=chain(bad, [] if first is None else [first], rows))
    if any(isinstance(cell, str) and re.search(r"\r(?!\n)", cell) for cell in first.cells):
        second = next(rows, None)
        if second is None:
            raise DataError(
                f"{table.name}: its lines end in carriage returns alone; convert it: tr '\\r' '\\n'"
            )
        rows = chain([second], rows)
    width = len(first.cells)
    if is_header(first.cells, wanted):
        columns = tuple("" if cell is None else str(cell).strip() for cell in first.cells)
        header = None if first.raw is None else (table.header or "") + first.raw
        rest = chain(bad, _check_width(rows, width))
        return replace(table, columns=columns, rows=rest, header=header, line=first.number)
    rest = chain(bad, [first], _check_width(rows, width))
    return replace(table, rows=rest, line=first.number, width=width, first=first.cells)


def _check_width(rows: Iterator[TableRow], width: int) -> Iterator[TableRow]:
    for row in rows:
        if row.problem or len(row.cells) == width:
            yield row
        else:
            yield TableRow(row.number, (), row.raw, f"expected {width} columns, found {len(row.cells)}")
