"""Running text from the text column of a table."""

from __future__ import annotations

from collections.abc import Iterator

from elman.tasks.language_model.data import LanguageModelDataConfig
from elman.text.tables import InMemory, read_rows, table_format


def is_table(data: LanguageModelDataConfig, source: str) -> bool:
    """Whether a source has columns: by its format or ending, or as rows in memory that are no lines."""
    if isinstance(source, InMemory):
        return not all(isinstance(row, str) for row in source.rows)
    return data.format != "lines" and bool(data.format or table_format(source))


def read_texts(data: LanguageModelDataConfig, source: str) -> Iterator[str]:
    """The lines of all texts, one after the other."""
    wanted, format = {"text": data.text}, data.format or None
    rows = read_rows(source, wanted, format=format, encoding=data.encoding, skip_bad=data.skip_bad)
    for _, (text,) in rows:
        yield from text.split("\n")
