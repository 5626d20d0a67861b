"""Batches as Ray Data hands them over: arrays by name, a data frame of pandas, or an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from elman.errors import DataError
from elman.text.optional_packages import import_optional
from elman.text.tables.parquet_writer import arrow_type


class Column(NamedTuple):
    """A column to add: its kind (``str``, ``float`` or ``list``) and its values; None is no value."""

    kind: type
    values: Sequence[Any]


def column_names(batch: Any) -> tuple[str, ...]:
    """The names of the columns of a batch."""
    if isinstance(batch, Mapping):
        return tuple(batch)
    for attribute in ("column_names", "columns"):  # of Arrow, of pandas
        if hasattr(batch, attribute):
            return tuple(getattr(batch, attribute))
    kinds = "arrays by name, a data frame or an Arrow table"
    raise DataError(f"a batch is {kinds}, not {type(batch).__name__}: is this map_batches?")


def take_column(batch: Any, name: str) -> list[Any]:
    """The values of a column as Python has them."""
    column = batch[name]
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def add_columns(batch: Any, columns: Mapping[str, Column]) -> Any:
    """A batch of the same kind with further columns at its end; the given one stays as it is."""
    if hasattr(batch, "append_column"):  # of Arrow
        for name, column in columns.items():
            batch = batch.append_column(name, _arrow_array(column))
        return batch
    arrays = {name: _array(column) for name, column in columns.items()}
    return {**batch, **arrays} if isinstance(batch, Mapping) else batch.assign(**arrays)


def _arrow_array(column: Column) -> Any:
    pa = import_optional("pyarrow", "ray", "for Arrow tables")
    # By its kind, not by its values: of a batch without spans nobody could tell, and its type would be another.
    return pa.array(column.values, type=arrow_type(column.kind))


def _array(column: Column) -> Any:
    """Numbers as numbers; texts and lists, of which numpy would make a matrix, as objects."""
    dtype = np.float64 if column.kind is float else object
    values = [np.nan if v is None else v for v in column.values] if column.kind is float else column.values
    return np.fromiter(values, dtype=dtype, count=len(values))
