"""The text of a cell, whatever a library holds in it."""

from __future__ import annotations

import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class CellError(Exception):
    """What is wrong with a row, and how a report calls such rows: without text."""

    def __init__(self, problem: str, kind: str = "") -> None:
        super().__init__(problem)
        self.kind = kind


def cell_text(value: Any, column: str) -> str:
    """A text, or a whole number as text; nothing is the empty text."""
    if isinstance(value, str):
        if not value.isascii() and _LONE_SURROGATE.search(value):
            raise CellError(f"{column!r} holds half of a surrogate pair, which is no character")
        return value
    if isinstance(value, list | tuple):
        return _only_text(value, column)
    if is_nothing(value):
        return ""
    number = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value  # of numpy
    if isinstance(number, float) and number.is_integer():
        return str(int(number))  # pandas and Excel write 1 as 1.0
    if isinstance(number, int) and not isinstance(number, bool):
        return str(number)  # labels are often numbers
    raise CellError(f"{column!r} must be a string or a whole number")


def is_nothing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, pandas' NA or NaT, a text of blanks."""
    if isinstance(value, str):
        return not value.strip()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return not getattr(value, "ndim", 0) and bool(value != value)  # an array is no cell, and no truth value


def shorten(value: Any, most: int = 100) -> str:
    """A value for a message."""
    said = repr(value)
    return said if len(said) <= most else f"{said[:most]}…"


def _only_text(values: list[Any] | tuple[Any, ...], column: str) -> str:
    """Annotation tools write a single label as a list of one."""
    if len(values) > 1:
        raise CellError(f"{column!r} is a list of {len(values)}; several labels a text need --multi")
    return cell_text(values[0], column) if values else ""
