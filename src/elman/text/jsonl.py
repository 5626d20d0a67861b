"""JSON lines: one object a line, its keys are the columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from elman.errors import DataError
from elman.text.messages import listed

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def values(
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
        keys = listed(list(record)) or "none"
        raise DataError(f"{where}: no key {column!r}; the object's keys are {keys}")
    value = record[column]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # labels are often numbers
    if not isinstance(value, str):
        raise DataError(f"{where}: {column!r} must be a string or a whole number")
    if _LONE_SURROGATE.search(value):
        raise DataError(
            f"{where}: {column!r} holds half of a surrogate pair, which is no character"
        )
    return value
