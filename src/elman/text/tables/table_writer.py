"""Tables written row by row with further columns: what the input has stays as it stands there."""

from __future__ import annotations

import math
from codecs import getincrementalencoder
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from elman.errors import DataError
from elman.text.tables.added_cells import add_cells, add_keys, dump_json, find_keys, join_cells
from elman.text.tables.excel_writer import ExcelWriter
from elman.text.tables.parquet_writer import ParquetCopier, ParquetWriter
from elman.text.tables.row_writer import ByteStream, Columns, RowWriter
from elman.text.tables.table import Missing, Table, TableRow


class DelimitedWriter:
    """CSV and TSV. Records of the same layout are copied as they stand."""

    def __init__(self, stream: ByteStream, table: Table, added: Columns, delimiter: str) -> None:
        self._copy = table.delimiter == delimiter
        self._delimiter = delimiter
        self._quotes = table.quotes or not self._copy
        self._put = _make_encoder(stream, table.encoding)
        if self._copy and table.header is not None:
            names = list(added) if table.columns is not None else []
            self._put(add_cells(table.header, names, delimiter, quotes=self._quotes))
        elif table.columns is not None:
            self._put(join_cells([*table.columns, *added], delimiter, quotes=self._quotes))

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        values = list(added.values())
        if self._copy and row.raw is not None:
            self._put(add_cells(row.raw, values, self._delimiter, quotes=self._quotes))
        else:
            self._put(join_cells([*row.cells, *values], self._delimiter, quotes=self._quotes))

    def close(self) -> None:
        """All is written."""


class JSONLinesWriter:
    """An object a line. Objects of the input are copied as they stand, with further keys at their end."""

    def __init__(self, stream: ByteStream, table: Table, *, copy: bool) -> None:
        self._name, self._columns, self._copy = table.name, list_columns(table), copy
        self._put = _make_encoder(stream, table.encoding)
        self._ascii = not table.encoding.lower().startswith("utf")

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        if not self._copy or row.raw is None:
            self._put(dump_json({**row_record(self._columns, row), **added}, ascii=self._ascii) + "\n")
            return
        if twice := find_keys(row.raw, added):
            raise DataError(
                f"{self._name}:{row.number}: this object has a key {twice[0]!r}, which those before had not; "
                "rename it, or write to --out FILE.csv"
            )
        self._put(add_keys(row.raw, added, ascii=self._ascii))

    def close(self) -> None:
        """All is written."""


class JSONWriter:
    """An array of objects."""

    def __init__(self, stream: ByteStream, table: Table) -> None:
        self._columns, self._put = list_columns(table), _make_encoder(stream, table.encoding)
        self._before = "[\n"

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        self._put(self._before + dump_json({**row_record(self._columns, row), **added}))
        self._before = ",\n"

    def close(self) -> None:
        self._put("[]\n" if self._before == "[\n" else "\n]\n")


def open_writer(stream: ByteStream, table: Table, added: Columns, format: str) -> RowWriter:
    """What writes the rows of a table and further columns, in its own format or in another."""
    same = table.format == format
    if format in ("csv", "tsv"):
        own = "\t" if format == "tsv" else ","
        return DelimitedWriter(stream, table, added, (same and table.delimiter) or own)
    if format == "jsonl":
        return JSONLinesWriter(stream, table, copy=same)
    if format == "json":
        return JSONWriter(stream, table)
    if format == "parquet":
        names = list_columns(table)
        return ParquetCopier(stream, table.name, added) if same else ParquetWriter(stream, names, added)
    return ExcelWriter(stream, table.columns, added, table.name if same else None)


def list_columns(table: Table) -> list[str]:
    """The names of columns; their numbers, where there is no header."""
    if table.columns is not None:
        return list(table.columns)
    return [str(number) for number in range(1, (table.width or 0) + 1)]


def row_record(columns: Sequence[str], row: TableRow) -> dict[str, Any]:
    """A row by the names of its columns; NaN, which JSON has not, is null."""
    cells = zip(columns, row.cells, strict=True)
    return {name: None if _is_nan(cell) else cell for name, cell in cells if not isinstance(cell, Missing)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _make_encoder(stream: ByteStream, encoding: str) -> Callable[[str], None]:
    """What writes text in an encoding; bytes that were no characters are written as they were read."""
    encode = getincrementalencoder(encoding)("surrogateescape").encode

    def put(text: str) -> None:
        try:
            stream.write(encode(text))
        except UnicodeEncodeError as error:
            character = text[error.start]
            raise DataError(
                f"an answer has {character!r}, which {encoding} has not: write to --out FILE.jsonl"
            ) from None

    return put
