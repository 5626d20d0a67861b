"""Examples that a program holds: lists of tuples, mappings or objects, data frames, Arrow tables, datasets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

from elman.argument_checks import can_iterate
from elman.errors import DataError, show_value
from elman.text.tables.arrow import build_arrow_table, class_names
from elman.text.tables.json_tables import SAMPLE, build_table
from elman.text.tables.table import Table, TableRow

StrPath = str | os.PathLike[str]
NAME = "examples in memory"


class InMemory(str):
    """Rows in the place of a file: a recipe has it where it has a path, in ``data.train`` and the like."""

    rows: list[Any]
    columns: tuple[str, ...] | None

    @classmethod
    def hold(cls, source: Any) -> str | tuple[str, ...]:
        """A source for a recipe. A path, or a tuple of paths, is one already; all else is rows."""
        if isinstance(source, str | os.PathLike):
            return source if isinstance(source, InMemory) else os.fspath(source)
        if isinstance(source, tuple) and source and all(isinstance(p, str | os.PathLike) for p in source):
            return tuple(map(os.fspath, source))
        columns, rows = _rows_of(source)
        return hold_rows(list(rows), columns)

    def hold_out(self, share: float) -> tuple[InMemory, InMemory]:
        """All rows but the last so large share, and these."""
        cut = len(self.rows) - max(1, int(len(self.rows) * share))
        return hold_rows(self.rows[:cut], self.columns), hold_rows(self.rows[cut:], self.columns)

    def open(self) -> Table:
        """The rows as a table: of mappings and objects by their names, of tuples without."""
        if self.columns is not None:
            numbered = enumerate(self.rows, 1)
            return Table(self, self.columns, (TableRow(n, tuple(row)) for n, row in numbered))
        mappings = [_as_mapping(row) for row in self.rows]
        if any(mapping is not None for mapping in mappings):
            records = ((TableRow(n, ()), m) for n, m in enumerate(mappings, 1))
            return build_table(self, (_check(row, m) for row, m in records), SAMPLE)
        return Table(self, None, (_as_row(number, row) for number, row in enumerate(self.rows, 1)))


def hold_rows(rows: list[Any], columns: tuple[str, ...] | None = None) -> InMemory:
    """Rows as they are, with the names of their columns where these are known."""
    if not rows:
        raise DataError("there are no examples")
    held = InMemory(NAME)
    held.rows, held.columns = rows, columns
    return held


def _check(row: TableRow, mapping: Mapping[str, Any] | None) -> tuple[TableRow, Mapping[str, Any] | None]:
    return (row, mapping) if mapping is not None else (row._replace(problem="expected a mapping"), None)


def _as_row(number: int, row: Any) -> TableRow:
    if isinstance(row, str):
        return TableRow(number, (row,))
    if isinstance(row, tuple | list):
        return TableRow(number, tuple(row))
    return TableRow(number, (), None, f"expected a tuple or a mapping, got {show_value(row)}")


def _as_mapping(row: Any) -> Mapping[str, Any] | None:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "_asdict"):
        return dict(row._asdict())
    return vars(row) if is_dataclass(row) and not isinstance(row, type) else None


def _rows_of(source: Any) -> tuple[tuple[str, ...] | None, Iterable[Any]]:
    """The columns of whatever has some, and its rows."""
    if isinstance(source, Mapping):
        return _rows_of_mapping(source)
    kind = type(source).__module__.split(".")[0]
    if kind == "pyarrow":
        return _rows_of_arrow(source)
    if kind == "datasets" and getattr(source, "features", None):
        return _rows_of_dataset(source)
    if kind == "polars" and hasattr(source, "iter_rows"):
        return tuple(source.columns), source.iter_rows()
    if hasattr(source, "itertuples"):  # pandas
        return tuple(map(str, source.columns)), source.itertuples(index=False, name=None)
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # what looks like it
        return None, source.to_dict("records")
    if not can_iterate(source) or isinstance(source, bytes | bytearray):
        raise DataError(
            f"expected examples, such as a list, a data frame or a path, not {type(source).__name__}"
        )
    return None, source


def _rows_of_mapping(source: Mapping[Any, Any]) -> tuple[tuple[str, ...], Iterator[Any]]:
    """The rows of columns by name; a Hugging Face DatasetDict, which is one of splits, is none."""
    if type(source).__name__.endswith("DatasetDict"):
        splits = ", ".join(map(str, source))
        raise DataError(
            f"this is a DatasetDict with the splits {splits}; give one of them, as in data['train']"
        )
    columns = [column for column in source.values() if hasattr(column, "__len__") and can_iterate(column)]
    if len(columns) < len(source) or len({*map(len, columns)}) != 1:
        raise DataError("a mapping is read as columns by name, which must be lists of one length")
    return tuple(map(str, source)), zip(*source.values(), strict=True)


def _rows_of_arrow(source: Any) -> tuple[tuple[str, ...] | None, Iterable[Any]]:
    if not hasattr(source, "schema"):  # a column
        return None, source.to_pylist()
    whole = source.to_batches() if hasattr(source, "to_batches") else None
    batches = whole or ([source] if hasattr(source, "columns") else source)  # a batch, or a reader of some
    table = build_arrow_table(NAME, source.schema, batches)
    return table.columns, (row.cells for row in table)


def _rows_of_dataset(source: Any) -> tuple[tuple[str, ...], Iterator[Any]]:
    columns = tuple(source.features)
    converts = [class_names(source.features[name]) for name in columns]
    named = list(zip(columns, converts, strict=True))
    return columns, (
        tuple(record[name] if convert is None else convert(record[name]) for name, convert in named)
        for record in source
    )
