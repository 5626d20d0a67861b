"""Tables of two columns between tabs, quoted as RFC 4180 wants it."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path


def write_table(path: Path, header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> Path:
    """The path, with the rows in it; runs of blanks are one."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, "excel-tab", lineterminator="\n")
        writer.writerow(header)
        writer.writerows([" ".join(cell.split()) for cell in row] for row in rows)
    return path


def read_table(path: Path) -> Iterable[list[str]]:
    """The rows below the header."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, "excel-tab")
        next(rows)
        yield from rows
