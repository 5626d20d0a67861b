"""Any source as a table: a file by its ending, a folder, or what a program holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, get_args

from elman.errors import ConfigError
from elman.text.byte_source import display_name, file_extension, hold_pipe, is_stdin
from elman.text.files import read_raw_lines
from elman.text.tables.arrow import open_parquet
from elman.text.tables.class_folder import open_class_folder
from elman.text.tables.delimited import read_records
from elman.text.tables.excel import open_excel
from elman.text.tables.file_kind import find_encoding, refuse_other_kinds
from elman.text.tables.header import take_header
from elman.text.tables.in_memory import InMemory
from elman.text.tables.json_tables import open_json, open_json_lines
from elman.text.tables.sniffing import SAMPLE, TAB, sniff
from elman.text.tables.table import Table

TableFormat = Literal["tsv", "csv", "jsonl", "json", "parquet", "xlsx", "folder"]
"""What a table may be stored as, where the ending does not say it."""

FORMATS = (*get_args(TableFormat), "blank")
_ENDINGS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json"}
_ENDINGS |= {".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx"}


def open_table(
    source: Any, *, format: str | None = None, encoding: str = "utf-8", wanted: Mapping[str, str] | None = None
) -> Table:
    """A table of a path or of rows in memory, open to be read row after row.

    ``format`` is guessed from the ending where it is not said; other endings are TSV, unless a CSV is plain to
    see. A "blank" file has two columns, before and after the first blank or tab. ``wanted`` is as in
    `find_columns`: by it a header is told from a row, and the delimiter of a CSV is found.
    """
    if isinstance(source, Table):
        return source
    source = InMemory.hold(source)
    if isinstance(source, InMemory):
        return source.open()
    if isinstance(source, tuple):
        raise ConfigError(f"a table is one file, not {len(source)}")
    source = source if is_stdin(source) else hold_pipe(source)  # its beginning is read twice
    format = format or table_format(source) or ""
    if format and format not in FORMATS:
        raise ConfigError(f"unknown table format {format!r}; choose from {', '.join(FORMATS)}")
    if format == "folder":
        return open_class_folder(Path(source), encoding)
    refuse_other_kinds(source, format)
    if format in ("parquet", "xlsx"):
        return open_parquet(Path(source)) if format == "parquet" else open_excel(Path(source), wanted or {})
    found = find_encoding(source, encoding)
    if format in ("json", "jsonl"):
        table = open_json(source, found) if format == "json" else open_json_lines(source, found)
    else:
        table = _open_delimited(source, format, found, wanted or {})
    return table if found == encoding else replace(table, notes=(*table.notes, f"encoding {found}"))


def table_format(source: str) -> str | None:
    """The format that the ending of a path says, or that it is a folder; None where it says none."""
    return "folder" if os.path.isdir(source) else _ENDINGS.get(file_extension(source))


def _open_delimited(source: str, format: str, encoding: str, wanted: Mapping[str, str]) -> Table:
    name = display_name(source)
    lines = read_raw_lines(source, encoding=encoding, errors="surrogateescape")
    head = list(islice(lines, 1 if is_stdin(source) else SAMPLE))  # who types waits for no hundred lines
    layout, begin = sniff(head, format, wanted)
    rows = read_records(chain(head[begin:], lines), layout, encoding)
    table = Table(
        name,
        None,
        rows,
        "".join(raw for _, raw in head[:begin]) or None,
        delimiter=layout.delimiter,
        quotes=layout.quotes,
        encoding=encoding,
        format=format or ("tsv" if layout.delimiter == TAB else "csv"),
        notes=_notes(layout.delimiter, format),
    )
    return take_header(table, wanted)


def _notes(delimiter: str | None, format: str) -> tuple[str, ...]:
    if delimiter in (None, "," if format == "csv" else TAB):
        return ()
    return ("delimiter tab" if delimiter == TAB else f'delimiter "{delimiter}"',)
