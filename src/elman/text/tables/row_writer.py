"""What writes a table row by row, and where to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from elman.text.tables.table import TableRow

Columns = Mapping[str, type]
"""Names of columns and what is in them: ``str``, ``float`` or ``list``."""


@runtime_checkable
class ByteStream(Protocol):
    """A file, a buffer, or what compresses into one."""

    def write(self, data: bytes, /) -> Any:
        """Take some bytes."""

    def flush(self) -> None:
        """Pass on what was taken."""


@runtime_checkable
class RowWriter(Protocol):
    """What writes a row at a time; nothing is whole before it is closed."""

    def write(self, row: TableRow, added: Mapping[str, Any]) -> None:
        """The row with what the added columns have."""

    def close(self) -> None:
        """Write what is left."""
