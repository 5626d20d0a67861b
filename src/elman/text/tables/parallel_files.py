"""Files whose lines belong together, as a table with a column for each."""

from __future__ import annotations

from collections.abc import Sequence

from elman.text.byte_source import Source, display_name
from elman.text.files import read_parallel
from elman.text.tables.table import Table, TableRow


def open_parallel(sources: Sequence[Source], columns: Sequence[str], *, encoding: str = "utf-8") -> Table:
    """A table of line i of every file; it has the name of the first, its rows the number of the line."""
    lines = read_parallel(sources, encoding=encoding)
    rows = (TableRow(*numbered) for numbered in lines)
    notes = (f"with {', '.join(map(display_name, sources[1:]))}",)
    return Table(display_name(sources[0]), tuple(columns), rows, format="lines", notes=notes)
