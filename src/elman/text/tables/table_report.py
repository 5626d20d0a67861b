"""What was read from a table, for one line to a person and for the record of a model."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

_log = logging.getLogger("elman")
_collected: ContextVar[list[TableReport] | None] = ContextVar("table_reports", default=None)


@dataclass(frozen=True)
class TableReport:
    """How many rows of which source were read, by which columns, and what was left out."""

    source: str
    rows: int
    columns: Mapping[str, str] = field(default_factory=dict)  # role -> name or "column 2"
    notes: tuple[str, ...] = ()  # a delimiter or encoding that is not the usual one
    labels: int | None = None  # how many different ones
    skipped: Mapping[str, int] = field(default_factory=dict)  # "without text" -> rows
    duplicates: int = 0  # rows that were kept on one side of a split
    unit: str = "row"  # what a row is called

    @property
    def names(self) -> dict[str, str]:
        """The names of the columns by their roles, where they have names."""
        return {role: name[1:-1] for role, name in self.columns.items() if name.startswith('"')}

    def __str__(self) -> str:
        notes = f" ({', '.join(self.notes)})" if self.notes else ""
        parts = [f"{role} = {name}" for role, name in self.columns.items()]
        if self.labels is not None and parts:
            parts[-1] += f" ({self.labels:,} labels)"
        parts += [f"{self._count(count)} {why} skipped" for why, count in self.skipped.items()]
        if self.duplicates:
            many = "1 duplicate" if self.duplicates == 1 else f"{self.duplicates:,} duplicates"
            parts.append(f"{many} kept together")
        said = f": {', '.join(parts)}" if parts else ""
        return f"read {self._count(self.rows)} from {self.source}{notes}{said}"

    def _count(self, rows: int) -> str:
        return f"{rows:,} {self.unit}{'' if rows == 1 else 's'}"


def publish_report(report: TableReport) -> None:
    """Hand a report to whoever collects them; where nobody does, it is logged."""
    collected = _collected.get()
    if collected is None:
        log_report(report)
    else:
        collected.append(report)


def log_report(report: TableReport) -> None:
    """One line for the logger ``elman``, which a command shows; of plain lines only where it says something."""
    if report.columns or report.skipped or report.duplicates:
        _log.info("%s", report)


@contextmanager
def collect_reports() -> Iterator[list[TableReport]]:
    """The reports of all tables that are read in this context, in the order in which they were finished."""
    reports: list[TableReport] = []
    token = _collected.set(reports)
    try:
        yield reports
    finally:
        _collected.reset(token)


def amend_report(place: int, **changes: Any) -> None:
    """Change what a collected report says, such as ``amend_report(0, duplicates=41)``."""
    collected = _collected.get()
    if collected:
        collected[place] = replace(collected[place], **changes)
