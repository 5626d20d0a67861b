"""Tables with named or numbered columns: TSV, CSV, JSON lines, and `label text` files.

A table has a header when its first row holds all the asked-for names; to hold only some of them is an error.
Columns may be asked for by number instead ("1" is the first); then every row is data. Without a header and
without numbers a row must have exactly the asked-for columns, in that order: `text<TAB>label`. A file with the
label first is read with ``columns=("2", "1")``. Rows without any character are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from elman.errors import ConfigError, DataError, quote_list
from elman.text.files import Source, display_name, file_extension, read_lines
from elman.text.in_memory import InMemory
from elman.text.table_formats import read_records, read_values

Cells = Iterator[tuple[int, list[str]]]

FORMATS = ("tsv", "csv", "jsonl", "blank")
_BLANKS = re.compile("[ \t]+")
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


def read_rows(
    source: Source,
    columns: Sequence[str] = ("text", "label"),
    *,
    format: str | None = None,
    encoding: str = "utf-8",
    header: bool = False,
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The asked-for columns of every row with the number of its (first) line.

    With `header` there must be one that has the names, which somebody chose then; numbers need none.
    `format` is guessed from the ending where it is not said: `.csv`, `.jsonl`, `.ndjson`, else TSV.
    A "tsv" has no quotes; "blank" is two columns, before and after the first blank or tab.
    """
    if isinstance(source, InMemory):
        yield from source.take_texts(columns)
        return
    format = format or _ENDINGS.get(file_extension(source), "tsv")
    if format not in FORMATS:
        raise ConfigError(f"unknown table format {format!r}; choose from {', '.join(FORMATS)}")
    name, text = display_name(source), read_lines(source, encoding=encoding)
    if format == "jsonl":
        chosen = read_values(text, columns, name)
    else:
        chosen = _select(_cells(text, format, name), columns, name, header)
    empty = True
    for number, values in chosen:
        empty = False
        for column, value in zip(columns, values, strict=True):
            if not value.strip():
                raise DataError(f"{name}:{number}: column {column!r} is empty")
        yield number, values
    if empty:
        raise DataError(f"{name}: the file has no rows")


def _cells(text: Iterator[tuple[int, str]], format: str, name: str) -> Cells:
    if format == "csv":
        yield from (row for row in read_records(text, name) if row[1] != [""])
        return
    for number, line in text:
        if line:
            yield number, line.split("\t") if format == "tsv" else _BLANKS.split(line, 1)


def _select(
    cells: Cells, columns: Sequence[str], name: str, headed: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    first = next(cells, None)
    if first is None:
        return
    header_line, header = first
    where = f"{name}:{header_line}"
    if any(column.isdecimal() for column in columns):
        at = _find_numbers(columns, len(header), where)
        yield header_line, tuple(header[i] for i in at)
    elif headed or any(column in header for column in columns):
        at = [_find_name(column, header, where) for column in columns]
    elif len(header) == len(columns):
        at = list(range(len(columns)))
        yield header_line, tuple(header)
    else:
        raise DataError(
            f"{where}: no header with {quote_list(columns)}, and without one the file "
            f"must have {len(columns)} columns, not {len(header)}; name the columns or give numbers"
        )
    for number, row in cells:
        if len(row) != len(header):
            raise DataError(f"{name}:{number}: expected {len(header)} columns, found {len(row)}")
        yield number, tuple(row[i] for i in at)


def _find_numbers(columns: Sequence[str], width: int, where: str) -> list[int]:
    if not all(column.isdecimal() and int(column) > 0 for column in columns):
        raise ConfigError(f"columns {', '.join(columns)}: give either names or numbers, which count from 1")
    at = [int(column) - 1 for column in columns]
    if max(at) >= width:
        raise DataError(f"{where}: there is no column {max(at) + 1}, the row has {width}")
    return at


def _find_name(column: str, header: list[str], where: str) -> int:
    if header.count(column) != 1:
        raise DataError(
            f"{where}: the header must have one column {column!r}, it has {quote_list(header)}; "
            "name the columns, or give numbers where this row is no header"
        )
    return header.index(column)
