"""Parquet files, written some thousands of rows at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elman.errors import DataError
from elman.files.utf8_paths import utf8_path
from elman.text.optional_packages import import_optional
from elman.text.tables.added_cells import cell_string
from elman.text.tables.row_writer import ByteStream, Columns
from elman.text.tables.table import Missing, TableRow

Answers = Sequence[Mapping[str, Any]]

_ROW_GROUP = 1 << 14  # rows that are held until they are written together


class ParquetWriter:
    """A table of another format: the first rows decide on the types of its columns."""

    def __init__(self, stream: ByteStream, columns: Sequence[str], added: Columns) -> None:
        self._arrow = import_optional("pyarrow", "tables", "to write Parquet")
        self._stream, self._columns, self._added = stream, columns, added
        self._rows: list[TableRow] = []
        self._answers: list[Mapping[str, Any]] = []
        self._file: Any = None

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        self._rows.append(row)
        self._answers.append(added)
        if len(self._rows) == _ROW_GROUP:
            self._flush()

    def close(self) -> None:
        if self._rows or self._file is None:
            self._flush()
        self._file.close()

    def _flush(self) -> None:
        pa = self._arrow
        cells = [[None if isinstance(c, Missing) else c for c in row.cells] for row in self._rows]
        known = self._file.schema if self._file else None
        arrays = []
        for place, name in enumerate(self._columns):
            column = [row[place] for row in cells]
            kind = known.field(place).type if known else _infer(pa, column)
            arrays.append(_build_array(pa, column, kind, name))
        batch = _with_answers(pa, arrays, list(self._columns), self._added, self._answers)
        if self._file is None:
            self._file = import_optional("pyarrow.parquet", "tables", "").ParquetWriter(
                self._stream, batch.schema
            )
        self._file.write_batch(batch)
        self._rows, self._answers = [], []


class ParquetCopier:
    """The rows of a Parquet file as Arrow reads them, types and metadata kept, and further columns."""

    def __init__(self, stream: ByteStream, source: str, added: Columns) -> None:
        self._arrow = import_optional("pyarrow", "tables", "to write Parquet")
        parquet = import_optional("pyarrow.parquet", "tables", "to write Parquet")
        with utf8_path(Path(source)) as named:
            file = parquet.ParquetFile(named)
        self._batches, self._added = file.iter_batches(_ROW_GROUP), added
        self._answers: list[Mapping[str, Any]] = []
        self._batch: Any = next(self._batches, None)
        empty = _with_answers(self._arrow, *_parts(file.schema_arrow.empty_table()), added, [])
        schema = empty.schema.with_metadata(file.schema_arrow.metadata)
        self._file = parquet.ParquetWriter(stream, schema)

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        self._answers.append(added)
        if len(self._answers) == self._batch.num_rows:
            batch = _with_answers(self._arrow, *_parts(self._batch), self._added, self._answers)
            self._file.write_batch(batch.replace_schema_metadata(self._file.schema.metadata))
            self._batch, self._answers = next(self._batches, None), []

    def close(self) -> None:
        self._file.close()


def _parts(table: Any) -> tuple[list[Any], list[str]]:
    columns = [c.combine_chunks() if hasattr(c, "combine_chunks") else c for c in table.columns]
    return columns, list(table.schema.names)


def _with_answers(
    pa: Any, arrays: list[Any], names: list[str], added: Columns, answers: Sequence[Mapping[str, Any]]
) -> Any:
    """A batch of these columns and the added ones."""
    further = [pa.array([row[name] for row in answers], arrow_type(kind)) for name, kind in added.items()]
    return pa.RecordBatch.from_arrays([*arrays, *further], names=[*names, *added])


def arrow_type(kind: type) -> Any:
    """The type of an added column: of numbers, of texts, of lists of spans."""
    pa = import_optional("pyarrow", "tables", "to write Parquet")
    if kind is list:
        place = [("start", pa.int64()), ("end", pa.int64())]
        return pa.list_(pa.struct([("text", pa.string()), *place, ("label", pa.string())]))
    return pa.float64() if kind is float else pa.string()


def _infer(pa: Any, column: Sequence[Any]) -> Any:
    try:
        kind = pa.infer_type(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # texts and numbers mixed
        return pa.string()
    return pa.string() if pa.types.is_null(kind) else kind


def _build_array(pa: Any, column: list[Any], kind: Any, name: str) -> Any:
    if pa.types.is_string(kind):
        return pa.array([value if value is None else cell_string(value) for value in column], kind)
    try:
        return pa.array(column, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        found = str(error).splitlines()[0]
        raise DataError(
            f"column {name!r} begins with {kind}, which a Parquet file then has all along ({found}); "
            "write to --out FILE.jsonl"
        ) from None
