"""A table read once before it is worked on: how many rows it has, whether all can be read, which keys occur."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from elman.text.tables.added_cells import find_keys
from elman.text.tables.bad_rows import BadRows
from elman.text.tables.table import Table


class TableCheck(NamedTuple):
    """What is known of a table before its first row is used."""

    rows: int
    names: frozenset[str]  # of its columns, and of the asked-for names those that any JSON object has as a key


def check_table(table: Table, names: Iterable[str] = ()) -> TableCheck:
    """Refuse a table with rows that cannot be read, all of them in one sentence."""
    taken, bad, count = set(table.columns or ()), BadRows(table.name), 0
    sought = [name for name in names if table.format == "jsonl" and name not in taken]
    for row in table:
        count += 1
        if row.problem:
            bad.add(row.number, row.problem)
        elif sought and (found := find_keys(row.raw or "{}", sought)):
            taken.update(found)
            sought = [name for name in sought if name not in taken]
    bad.refuse(count, remedy="mend them")
    return TableCheck(count, frozenset(taken))
