"""How a text file separates its cells, from its first lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from elman.text.files import strip_line_end
from elman.text.tables.column_names import names_columns
from elman.text.tables.delimited import Layout, read_records

TAB = "\t"
DELIMITERS = (",", ";", TAB, "|")
SAMPLE = 100  # lines that are looked at

_QUOTED = re.compile('"(?:[^"]|"")*"')
_SEPARATOR = re.compile(r'"?sep=(.)"?')

Lines = Sequence[tuple[int, str]]


def sniff(lines: Lines, format: str, wanted: Mapping[str, str]) -> tuple[Layout, int]:
    """The layout of a file, and how many of its first lines say nothing but that: ``sep=;``.

    A file of no known format is a TSV, unless it has the header of a CSV.
    """
    if format == "blank":
        return Layout(None, quotes=False), 0
    first = strip_line_end(lines[0][1], first=True) if lines else ""
    if said := _SEPARATOR.fullmatch(first):  # Excel writes and reads it
        return Layout(said[1], quotes=True), 1
    named = _naming_delimiter(lines, wanted) if format != "tsv" else None
    if format == "csv" or (not format and named and TAB not in first):
        return Layout(named or _even_delimiter(lines, len(wanted)), quotes=True), 0
    return Layout(TAB, quotes=_quotes_plainly(lines)), 0


def _naming_delimiter(lines: Lines, wanted: Mapping[str, str]) -> str | None:
    """The delimiter that makes a header of the first row."""
    for delimiter in DELIMITERS:
        first = next(
            (row for row in read_records(lines, Layout(delimiter, quotes=True)) if not row.problem), None
        )
        if first and len(first.cells) >= len(wanted) and names_columns(first.cells, wanted):
            return delimiter
    return None


def _even_delimiter(lines: Lines, least: int) -> str:
    """A delimiter that gives all rows as many cells, at least two; the comma where none does."""
    for delimiter in DELIMITERS:
        rows = read_records(lines, Layout(delimiter, quotes=True))
        widths = {len(row.cells) for row in rows if not row.problem}
        if len(widths) == 1 and max(widths) >= max(2, least):
            return delimiter
    return ","


def _quotes_plainly(lines: Lines) -> bool:
    """Whether a TSV puts cells between quotes; elsewhere a quote is a character like others.

    It does where its lines have different numbers of cells, and its records have not. Where all lines have the
    same number, every cell with a quote must stand between quotes, and the first row or a ``""`` must show it.
    """
    texts = [strip_line_end(raw, first=number == 1) for number, raw in lines]
    plain = [text.split(TAB) for text in texts if text]
    quoted = [cell for row in plain for cell in row if '"' in cell]
    if not quoted:
        return False
    if len({len(row) for row in plain}) == 1:
        whole = all(_QUOTED.fullmatch(cell) for cell in quoted)
        return whole and (all('"' in cell for cell in plain[0]) or any('""' in cell[1:-1] for cell in quoted))
    rows = list(read_records(lines, Layout(TAB, quotes=True)))
    return not any(row.problem for row in rows) and len({len(row.cells) for row in rows}) == 1
