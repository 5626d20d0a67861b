"""The rows of CSV (RFC 4180), in linear time and memory, and of JSON lines, whose keys are the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from elman.errors import DataError, quote_list

# The standard library's reader refuses fields over 128 KB unless a setting of the whole process
# is changed, and reads on to the end of the file after a stray quote without a word.
_FIELD = re.compile(r'"([^"]*(?:""[^"]*)*)"(,|\Z)|((?!")[^,\n]*)(,|\Z)')
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_records(numbered: Iterator[tuple[int, str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Fields apart by commas; between quotes may stand commas, line ends and ``""`` for a quote."""
    for start, line in numbered:
        parts = [line]
        if _odd(line):  # a quoted field goes on to the next line with an odd number of quotes
            for _, line in numbered:
                parts.append(line)
                if _odd(line):
                    break
            else:
                raise DataError(f"{name}:{start}: a quote that opens in this row is never closed")
        yield start, _fields("\n".join(parts), f"{name}:{start}")


def _odd(line: str) -> bool:
    return line.count('"') % 2 == 1


def _fields(record: str, where: str) -> list[str]:
    fields: list[str] = []
    at, more = 0, True
    while more:
        match = _FIELD.match(record, at)
        if match is None:
            raise DataError(
                f"{where}: field {len(fields) + 1} has a quote in the wrong place; "
                'put the field between quotes and write "" for a quote inside'
            )
        quoted, after_quoted, plain, after_plain = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        at, more = match.end(), bool(after_quoted or after_plain)
    return fields


def read_values(
    numbered: Iterator[tuple[int, str]], columns: Sequence[str], name: str
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The asked-for keys of every object; strings, or whole numbers written as in the file."""
    for number, line in numbered:
        if line.strip():
            where = f"{name}:{number}"
            record = _object(line, where)
            yield number, tuple(_text(record, column, where) for column in columns)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except RecursionError:
        raise DataError(f"{where}: the JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error.msg} at column {error.colno})") from None
    except ValueError:  # an integer of more than 4300 digits
        raise DataError(f"{where}: the JSON holds a number that is too long") from None
    if not isinstance(record, dict):
        raise DataError(f'{where}: expected a JSON object, such as {{"text": …, "label": …}}')
    return record


def _text(record: dict[str, Any], column: str, where: str) -> str:
    if column not in record:
        keys = quote_list(list(record)) or "none"
        raise DataError(f"{where}: no key {column!r}; the object's keys are {keys}")
    value = record[column]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # labels are often numbers
    if not isinstance(value, str):
        raise DataError(f"{where}: {column!r} must be a string or a whole number")
    if _LONE_SURROGATE.search(value):
        raise DataError(f"{where}: {column!r} holds half of a surrogate pair, which is no character")
    return value
