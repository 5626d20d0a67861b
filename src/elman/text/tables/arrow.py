"""Tables of Apache Arrow: Parquet files, tables and batches in memory, and the class names that they carry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elman.errors import DataError, printable, shorten
from elman.files.utf8_paths import utf8_path
from elman.text.optional_packages import import_optional
from elman.text.tables.table import Table, TableRow

Convert = Callable[[Any], Any]


def open_parquet(path: Path) -> Table:
    """A table of a Parquet file, read a batch at a time."""
    parquet = import_optional("pyarrow.parquet", "tables", f"{path}: to read Parquet")
    try:
        with utf8_path(path) as named:
            file = parquet.ParquetFile(named)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise DataError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]})") from None
    table = build_arrow_table(printable(str(path)), file.schema_arrow, _name_damage(path, file.iter_batches()))
    return replace(table, format="parquet")


def _name_damage(path: Path, batches: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from batches
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as Parquet ({shorten(str(error))})") from None


def build_arrow_table(name: str, schema: Any, batches: Iterable[Any]) -> Table:
    """A table of record batches; integers that stand for classes become their names."""
    columns = tuple(schema.names)
    converts = [class_names(feature) for feature in _features(schema, columns)]
    return Table(name, columns, _read_batches(batches, converts), schema=schema)


def class_names(feature: Any) -> Convert | None:
    """What makes names of the classes of a column, where a Hugging Face feature says that it has such."""
    if isinstance(feature, list):  # [ClassLabel]
        feature = {"feature": feature[0]}
    names, inner = _attribute(feature, "names"), _attribute(feature, "feature")
    if names:
        return lambda value: names[value] if isinstance(value, int) and 0 <= value < len(names) else None
    convert = None if inner is None else class_names(inner)
    if convert is None:
        return None
    return lambda values: values if values is None else [convert(value) for value in values]


def _attribute(feature: Any, name: str) -> Any:
    return feature.get(name) if isinstance(feature, Mapping) else getattr(feature, name, None)


def _features(schema: Any, columns: Sequence[str]) -> list[Any]:
    try:
        stored = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return [stored.get(name) for name in columns]
    except (KeyError, ValueError, TypeError, AttributeError):
        return [None] * len(columns)


def _read_batches(batches: Iterable[Any], converts: Sequence[Convert | None]) -> Iterator[TableRow]:
    number = 0
    for batch in batches:
        lists = [column.to_pylist() for column in batch.columns]
        for cells in zip(*lists, strict=True):
            number += 1
            pairs = zip(cells, converts, strict=True)
            yield TableRow(number, tuple(cell if convert is None else convert(cell) for cell, convert in pairs))
