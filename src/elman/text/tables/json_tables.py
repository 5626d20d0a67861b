"""Tables of JSON objects, whose keys are the columns: an object a line, or an array of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from elman.errors import DataError
from elman.text.byte_source import Source, display_name, is_stdin, open_bytes
from elman.text.files import BOM, read_raw_lines, strip_line_end
from elman.text.tables.annotations import flatten_annotation, is_annotation
from elman.text.tables.table import Missing, Table, TableRow
from elman.text.tables.undecodable import undecodable_problem

SAMPLE = 100  # objects whose keys are the columns

Record = tuple[TableRow, Mapping[str, Any] | None]


def open_json_lines(source: Source, encoding: str) -> Table:
    """A table of an object a line."""
    lines = read_raw_lines(source, encoding=encoding, errors="surrogateescape")
    records = (_read_line(number, raw, encoding) for number, raw in lines if not raw.isspace())
    sample = 1 if is_stdin(source) else SAMPLE  # who types waits for no hundred lines
    return replace(build_table(display_name(source), records, sample), encoding=encoding, format="jsonl")


def open_json(source: Source, encoding: str) -> Table:
    """A table of an array of objects, or of the one array in an object such as ``{"data": [...]}``."""
    name = display_name(source)
    with open_bytes(source) as stream:
        content = stream.read()
    try:
        text = content.decode(encoding).removeprefix(BOM)
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: byte {error.start + 1} is not {encoding.upper()}") from None
    if not text.strip():
        raise DataError(f"{name}: the file is empty")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):  # an object a line under another ending
            return open_json_lines(source, encoding)
        raise DataError(f"{name}:{error.lineno}: not JSON ({error.msg} at column {error.colno})") from None
    except (RecursionError, ValueError):
        raise DataError(f"{name}: the JSON is nested too deeply, or holds a number that is too long") from None
    rows = ((TableRow(number, ()), item) for number, item in enumerate(_find_array(value, name), 1))
    return replace(build_table(name, map(_check_item, rows), SAMPLE), encoding=encoding, format="json")


def build_table(name: str, records: Iterable[Record], sample: int) -> Table:
    """A table of mappings; its columns are the keys of the first of them."""
    records = iter(records)
    head = [(row, flatten_annotation(record)) for row, record in islice(records, sample)]
    if not head:
        raise DataError(f"{name}: the file has no rows")
    columns = tuple(dict.fromkeys(str(key) for _, record in head for key in record or ()))
    if not columns:
        raise DataError(f"{name}:{head[0][0].number}: {head[0][0].problem or 'the object has no keys'}")
    rest = ((row, flatten_annotation(record)) for row, record in records)
    return Table(name, columns, _fill_cells(chain(head, rest), columns))


def _fill_cells(records: Iterable[Record], columns: tuple[str, ...]) -> Iterator[TableRow]:
    for row, record in records:
        if record is None:
            yield row
        else:
            cells = (record[name] if name in record else Missing(tuple(map(str, record))) for name in columns)
            yield row._replace(cells=tuple(cells))


def _read_line(number: int, raw: str, encoding: str) -> Record:
    row = TableRow(number, (), raw)
    if problem := undecodable_problem(raw, encoding):
        return row._replace(problem=problem), None
    try:
        value = json.loads(strip_line_end(raw, first=number == 1))
    except RecursionError:
        return row._replace(problem="the JSON is nested too deeply"), None
    except json.JSONDecodeError as error:
        return row._replace(problem=f"not JSON ({error.msg} at column {error.colno})"), None
    except ValueError:  # an integer of more than 4300 digits
        return row._replace(problem="the JSON holds a number that is too long"), None
    return _check_item((row, value))


def _check_item(numbered: tuple[TableRow, Any]) -> Record:
    row, value = numbered
    if isinstance(value, dict):
        return row, value
    return row._replace(problem='expected a JSON object, such as {"text": …, "label": …}'), None


def _find_array(value: Any, name: str) -> list[Any]:
    if isinstance(value, list):
        return value
    arrays = [v for v in value.values() if isinstance(v, list)] if isinstance(value, dict) else []
    if len(arrays) == 1 and not is_annotation(value):
        return list(arrays[0])
    if (isinstance(value, dict) and not arrays) or is_annotation(value):
        return [value]
    raise DataError(f'{name}: expected an array of objects: [{{…}}, {{…}}], or {{"data": [{{…}}, {{…}}]}}')
