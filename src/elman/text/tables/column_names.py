"""Which column is which: by its exact name, without regard to case, by what people call such columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from elman.errors import ConfigError, DataError, quote_list
from elman.text.tables.column_synonyms import SYNONYMS
from elman.text.tables.table import Table

_NUMBER = re.compile(r"[-+\d.,]+")


def find_columns(table: Table, wanted: Mapping[str, str]) -> tuple[int, ...]:
    """The places of the wanted columns, from 0; ``wanted`` has for each role the name that was asked for.

    A number is a place, counted from 1. A name that is the role itself was not chosen by anybody: there, what
    people call such a column will do. Without names in the table the columns stand in the order of the roles.
    """
    if table.columns is None:
        return _find_places(table, wanted)
    found = {role: _find(table, role, name) for role, name in wanted.items()}
    for role, place in found.items():
        others = [r for r, p in found.items() if p == place and r != role and wanted[r] != wanted[role]]
        if others and not all(wanted[r].isdecimal() for r in (role, others[0])):
            column = table.columns[place]
            raise DataError(f"{table.where}: {column!r} may be {role} or {others[0]}; {_say_which(role)}")
    return tuple(found.values())


def is_header(cells: Sequence[object], wanted: Mapping[str, str]) -> bool:
    """Whether a first row names columns: some were chosen by name, or it has a role, or something for each."""
    named = {role: name for role, name in wanted.items() if not name.isdecimal()}
    if wanted and not named:
        return _names_the_numbered(cells, wanted)
    keys = {_fold(cell) for cell in cells if isinstance(cell, str)}
    known = any(name != role or _fold(role) in keys for role, name in named.items())
    return known or names_columns(cells, named)


def names_columns(cells: Sequence[object], wanted: Mapping[str, str]) -> bool:
    """Whether all cells may be names, and there is one for every role; numbers choose any."""
    names = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    if len({_fold(name) for name in names}) < len(names) or any(_NUMBER.fullmatch(name) for name in names):
        return False
    named = {role: name for role, name in wanted.items() if not name.isdecimal()}
    if wanted and not named:
        return _names_the_numbered(cells, wanted)
    chosen = named or {"text": "text"}
    return all(_candidates(names, role if name == role else name) for role, name in chosen.items())


def _names_the_numbered(cells: Sequence[object], wanted: Mapping[str, str]) -> bool:
    """Whether at every place that was asked for by its number stands the name of just that role."""
    for role, name in wanted.items():
        place = int(name) - 1 if name.isdecimal() and not role.isdecimal() else -1
        if not 0 <= place < len(cells) or not _candidates([str(cells[place])], role):
            return False
    return True


def _find(table: Table, role: str, name: str) -> int:
    columns = table.columns or ()
    if name.isdecimal() and name not in columns:
        return _number(table, name, len(columns))
    exact = [i for i, column in enumerate(columns) if column == name]
    near = exact or [i for i, column in enumerate(columns) if _fold(column) == _fold(name)]
    found = near or (_candidates(columns, role) if name == role else [])
    if len(found) == 1:
        return found[0]
    there = quote_list(columns)
    if len(found) > 1 and not near:
        candidates = quote_list([columns[i] for i in found])
        raise DataError(f"{table.where}: the {role} may be in {candidates}; {_say_which(role)}")
    raise DataError(
        f"{table.where}: the header must have one column {name!r}, it has {there}; "
        "name the columns, or give numbers where this row is no header"
        if table.line is not None
        else f"{table.where}: no column {name!r}; there are {there}; {_say_which(role)}"
    )


def _candidates(columns: Sequence[str], role: str) -> list[int]:
    """The places of columns that may play a role: those with its name, else a synonym, else ``my_role``."""
    keys = [_fold(column) for column in columns]
    lasts = [_fold(re.split(r"[\s_.-]+", column.strip())[-1]) for column in columns]
    synonyms = {_fold(name) for name in SYNONYMS.get(role, ())}
    named = [i for i, key in enumerate(keys) if key == _fold(role)]
    called = named or [i for i, key in enumerate(keys) if key in synonyms]
    return called or [i for i, last in enumerate(lasts) if last == _fold(role)]


def _find_places(table: Table, wanted: Mapping[str, str]) -> tuple[int, ...]:
    names = list(wanted.values())
    numbers = [name.isdecimal() for name in names]
    if any(numbers):
        if not all(numbers):
            raise ConfigError(f"columns {', '.join(names)}: give either names or numbers, which count from 1")
        return tuple(_number(table, name, table.width) for name in names)
    if table.width not in (None, len(names)):
        there = quote_list([str(cell) for cell in table.first], most=8)
        options = " and ".join(_option(role) for role in wanted)
        raise DataError(
            f"{table.where}: no header with {quote_list(names)} among {there}, and without one the file "
            f"must have {len(names)} columns, not {table.width}; say which with {options}, by name or number"
        )
    return tuple(range(len(names)))


def _number(table: Table, name: str, width: int | None) -> int:
    if int(name) < 1:
        raise ConfigError(f"column {name}: give either names or numbers, which count from 1")
    if width is not None and int(name) > width:
        raise DataError(f"{table.where}: there is no column {name}, the row has {width}")
    return int(name) - 1


def _say_which(role: str) -> str:
    return f"say which with {_option(role)}"


def _option(role: str) -> str:
    return "--column" if role == "tags" else f"--{role}"


def _fold(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()
