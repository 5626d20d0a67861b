"""The first sheet of an Excel file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, time
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from elman.errors import DataError
from elman.text.optional_packages import import_optional
from elman.text.tables.header import take_header
from elman.text.tables.table import Table, TableRow


def open_excel(path: Path, wanted: Mapping[str, str]) -> Table:
    """A table of the first sheet; rows without any value are left out."""
    openpyxl = import_optional("openpyxl", "tables", f"{path}: to read Excel files")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise DataError(f"{path}: cannot be read as an Excel file ({error})") from None
    sheets = book.worksheets
    if not sheets:
        raise DataError(f"{path}: the file has no sheet with cells")
    notes = (f"sheet {sheets[0].title!r}, the first of {len(sheets)}",) if len(sheets) > 1 else ()
    return take_header(Table(str(path), None, _rows(sheets[0]), format="xlsx", notes=notes), wanted)


def _rows(sheet: Any) -> Iterator[TableRow]:
    """All rows that have a value, filled up to the width of the first."""
    width = 0
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        filled = max((i for i, cell in enumerate(cells, 1) if cell is not None), default=0)
        if filled:
            width = width or filled
            some = [_plain(cell) for cell in cells[: max(width, filled)]]
            yield TableRow(number, (*some, *[None] * (width - len(some))))


def _plain(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, date | time) else cell
