"""The first sheet of an Excel file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from io import BytesIO
from pathlib import Path
from typing import Any

from elman.errors import DataError, shorten
from elman.text.optional_packages import import_optional
from elman.text.tables.header import take_header
from elman.text.tables.table import Table, TableRow


def open_excel(path: Path, wanted: Mapping[str, str]) -> Table:
    """A table of the first sheet; rows without any value are left out."""
    openpyxl = import_optional("openpyxl", "tables", f"{path}: to read Excel files")
    try:
        content = path.read_bytes()  # openpyxl itself goes by the ending of a name
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    with _name_damage(path):
        sheets = openpyxl.load_workbook(BytesIO(content), read_only=True, data_only=True).worksheets
    if not sheets:
        raise DataError(f"{path}: the file has no sheet with cells")
    notes = (f"sheet {sheets[0].title!r}, the first of {len(sheets)}",) if len(sheets) > 1 else ()
    return take_header(Table(str(path), None, _rows(sheets[0], path), format="xlsx", notes=notes), wanted)


@contextmanager
def _name_damage(path: Path) -> Iterator[None]:
    """Whatever openpyxl meets in a damaged file (XML, ZIP, wrong types) is one sentence."""
    try:
        yield
    except Exception as error:
        raise DataError(f"{path}: cannot be read as an Excel file ({shorten(str(error))})") from None


def _cells(sheet: Any, path: Path) -> Iterator[tuple[Any, ...]]:
    rows = iter(sheet.iter_rows(values_only=True))
    while True:
        with _name_damage(path):
            cells = next(rows, None)
        if cells is None:
            return
        yield cells


def _rows(sheet: Any, path: Path) -> Iterator[TableRow]:
    """All rows that have a value, filled up to the width of the first."""
    width = 0
    for number, cells in enumerate(_cells(sheet, path), 1):
        filled = max((i for i, cell in enumerate(cells, 1) if cell is not None), default=0)
        if filled:
            width = width or filled
            some = [_plain(cell) for cell in cells[: max(width, filled)]]
            yield TableRow(number, (*some, *[None] * (width - len(some))))


def _plain(cell: Any) -> Any:
    return cell.isoformat() if isinstance(cell, date | time) else cell
