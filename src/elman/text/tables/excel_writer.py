"""Excel files, written row by row: openpyxl keeps the rows in a temporary file until they are saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elman.errors import DataError
from elman.text.optional_packages import import_optional
from elman.text.tables.added_cells import cell_string
from elman.text.tables.row_writer import ByteStream, Columns
from elman.text.tables.table import Missing, TableRow

_MOST = 1 << 20  # rows of a sheet


class ExcelWriter:
    """One sheet. Of an Excel file, values are written as they stand there, dates as dates."""

    def __init__(
        self, stream: ByteStream, columns: Sequence[str] | None, added: Columns, source: str | None
    ) -> None:
        openpyxl = import_optional("openpyxl", "tables", "to write Excel files")
        self._illegal = import_optional("openpyxl.utils.exceptions", "tables", "").IllegalCharacterError
        self._stream, self._book = stream, openpyxl.Workbook(write_only=True)
        self._sheet = self._book.create_sheet()
        self._given = _read_sheet(openpyxl, source) if source else None
        self._count = 0
        if columns is not None:
            self._append(next(self._given) if self._given else columns, added, "the header")

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        cells = next(self._given) if self._given else row.cells
        self._append(cells, added.values(), f"row {row.number}")

    def close(self) -> None:
        self._book.save(self._stream)

    def _append(self, cells: Iterable[Any], values: Iterable[Any], where: str) -> None:
        self._count += 1
        if self._count > _MOST:
            raise DataError(f"an Excel sheet has {_MOST:,} rows at most: write to --out FILE.csv")
        strange = (Missing, list, dict)
        try:
            self._sheet.append([cell_string(c) if isinstance(c, strange) else c for c in (*cells, *values)])
        except self._illegal:
            raise DataError(
                f"{where} has a character that Excel cannot hold: write to --out FILE.csv"
            ) from None


def _read_sheet(openpyxl: Any, source: str) -> Iterator[Sequence[Any]]:
    """The rows of the first sheet that have any value, which are those that are read as a table."""
    sheet = openpyxl.load_workbook(source, read_only=True, data_only=True).worksheets[0]
    rows = sheet.iter_rows(values_only=True)
    return (cells for cells in rows if any(cell is not None for cell in cells))
