"""Rows that cannot be used: counted all, the first few shown, refused together at the end or left out."""

from __future__ import annotations

from collections import Counter

from elman.errors import DataError

SHOWN = 5


class BadRows:
    """What was wrong with the rows of one table."""

    def __init__(self, name: str, unit: str = "row") -> None:
        self._name, self._unit = name, unit
        self._shown: list[str] = []
        self.counts: Counter[str] = Counter()

    def add(self, number: int, problem: str, kind: str = "") -> None:
        """One more; ``kind`` is how a report calls such rows: without text."""
        self.counts[kind or "that cannot be read"] += 1
        if len(self._shown) < SHOWN:
            self._shown.append(f"{self._name}:{number}: {problem}")

    def add_error(self, error: DataError, number: int) -> None:
        """One more, by the error of a reader that names file and line."""
        self.add(number, str(error).removeprefix(f"{self._name}:{number}: "))

    def refuse(self, rows: int, remedy: str = "mend them, or skip them with --skip-bad") -> None:
        """Raise where there were any; ``rows`` is how many the table has."""
        count = self.counts.total()
        if not count:
            return
        more = f"; and {count - SHOWN:,} more" if count > SHOWN else ""
        many = f"1 bad {self._unit}" if count == 1 else f"{count:,} bad {self._unit}s"
        raise DataError(f"{'; '.join(self._shown)}{more} ({many} of {rows:,}; {remedy})")
