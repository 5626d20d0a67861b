"""Cells added to the text of a record, of which no other byte changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from elman.text.files import BOM
from elman.text.tables.cell_text import is_nothing
from elman.text.tables.table import Missing

_ESCAPES = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})


def add_cells(raw: str, values: Sequence[Any], delimiter: str, *, quotes: bool) -> str:
    """A record of a text file with further cells before its line end."""
    record = strip_end(raw)
    return (
        record
        + "".join(f"{delimiter}{quote_cell(v, delimiter, quotes=quotes)}" for v in values)
        + raw[len(record) :]
    )


def add_keys(raw: str, values: Mapping[str, Any], *, ascii: bool = False) -> str:
    """A JSON object with further keys before its closing brace."""
    before, _, after = raw.rpartition("}")
    comma = "" if not values or before.rstrip().endswith("{") else ", "
    return before + comma + dump_json(values, ascii=ascii)[1:-1] + "}" + after


def find_keys(raw: str, names: Iterable[str]) -> list[str]:
    """Of these names those that a JSON object has as keys; where it has none, it is not even parsed."""
    near = [name for name in names if json.dumps(name, ensure_ascii=False) in raw]
    keys = json.loads(raw.removeprefix(BOM)).keys() if near else ()
    return [name for name in near if name in keys]


def strip_end(raw: str) -> str:
    """A record without its line end."""
    return raw[:-2] if raw.endswith("\r\n") else raw.removesuffix("\n")


def join_cells(values: Sequence[Any], delimiter: str, *, quotes: bool) -> str:
    """A record of these cells, with its line end."""
    return delimiter.join(quote_cell(value, delimiter, quotes=quotes) for value in values) + "\n"


def quote_cell(value: Any, delimiter: str, *, quotes: bool) -> str:
    r"""A value, between quotes where it needs them; in a file without quotes, a tab in it is ``\t``."""
    text = cell_string(value)
    if not quotes:
        return text.translate(_ESCAPES)
    if any(c in text for c in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def cell_string(value: Any) -> str:
    """A value as text: nothing is the empty text, a list or mapping is JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return dump_json(value)
    return "" if isinstance(value, Missing) or is_nothing(value) else str(value)


def dump_json(value: Any, *, ascii: bool = False) -> str:
    """A value as JSON; what JSON has no type for (a date) is a string."""
    return json.dumps(value, ensure_ascii=ascii, default=str)
