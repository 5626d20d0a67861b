"""Texts without labels, from which an encoder learns the language before it learns the task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from elman.errors import DataError
from elman.text.byte_source import display_name
from elman.text.files import read_lines
from elman.text.tables import InMemory, read_rows, table_format


def read_unlabelled(data: Any) -> list[str]:
    """The texts of ``data.unlabelled``, no one twice: lines with words, or the text column of tables."""
    sources = (data.unlabelled,) if isinstance(data.unlabelled, str) else data.unlabelled
    texts = dict.fromkeys(text for source in sources for text in _read(data, source) if text.strip())
    if sources and any(sources) and not texts:
        raise DataError(f"{display_name(sources[0])}: the unlabelled text is empty")
    return [*texts]


def _read(data: Any, source: str) -> Iterator[str]:
    if not source:
        return
    if isinstance(source, InMemory) and all(isinstance(row, str) for row in source.rows):
        yield from source.rows
    elif isinstance(source, InMemory) or table_format(source):
        wanted = {"text": getattr(data, "text", "text")}
        rows = read_rows(source, wanted, encoding=data.encoding, skip_bad=data.skip_bad)
        yield from (text for _, (text,) in rows)
    else:
        yield from (line for _, line in read_lines(source, encoding=data.encoding))
