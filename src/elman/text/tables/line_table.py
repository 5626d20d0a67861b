"""A file of lines as a table of one column."""

from __future__ import annotations

from elman.text.byte_source import Source, display_name
from elman.text.files import read_lines
from elman.text.tables.table import Table, TableRow


def open_lines(source: Source, column: str, *, encoding: str = "utf-8") -> Table:
    """A table whose rows are the lines of a file; a blank line is a row, too."""
    rows = (TableRow(number, (line,)) for number, line in read_lines(source, encoding=encoding))
    return Table(display_name(source), (column,), rows, encoding=encoding, format="lines")
