"""The records of a text file with a delimiter between its cells (RFC 4180), in linear time and memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from elman.text.files import strip_line_end
from elman.text.tables.table import TableRow
from elman.text.tables.undecodable import undecodable_problem

_MOST = 1 << 24  # characters of a record: a quote that is not closed for so long is a mistake
_BLANKS = re.compile("[ \t]+")


class Layout(NamedTuple):
    """What stands between cells, and whether a cell may stand between quotes. No delimiter: the first blank."""

    delimiter: str | None
    quotes: bool


def read_records(
    lines: Iterable[tuple[int, str]], layout: Layout, encoding: str = "utf-8"
) -> Iterator[TableRow]:
    """The rows of numbered raw lines; a line without any character is none.

    Between quotes may stand delimiters, line ends and ``""`` for a quote. Where quotes are in the wrong places
    only the line where they begin is lost: reading goes on with the next.
    """
    ahead: deque[tuple[int, str]] = deque()  # lines that were taken for a part of the record before them
    source = iter(lines)
    while numbered := ahead.popleft() if ahead else next(source, None):
        number, raw = numbered
        text = strip_line_end(raw, first=number == 1)
        if not text:
            continue
        if problem := undecodable_problem(raw, encoding):
            yield TableRow(number, (), raw, problem)
        elif not layout.quotes or '"' not in text:
            yield TableRow(number, _split_plain(text, layout.delimiter), raw)
        else:
            rest: list[tuple[int, str]] = []
            row = _read_quoted(number, raw, layout, _further(ahead, source, rest))
            if row.problem:
                ahead.extendleft(reversed(rest))
            elif problem := undecodable_problem(row.raw or "", encoding):
                row = TableRow(number, (), row.raw, problem)
            yield row


def _split_plain(text: str, delimiter: str | None) -> tuple[str, ...]:
    return tuple(_BLANKS.split(text, maxsplit=1) if delimiter is None else text.split(delimiter))


def _further(
    ahead: deque[tuple[int, str]], source: Iterator[tuple[int, str]], taken: list[tuple[int, str]]
) -> Iterator[str]:
    """The lines that follow, each remembered as taken."""
    while numbered := ahead.popleft() if ahead else next(source, None):
        taken.append(numbered)
        yield numbered[1]


def _read_quoted(number: int, raw: str, layout: Layout, further: Iterator[str]) -> TableRow:
    parts, size = [raw], len(raw)
    if _is_odd(raw):  # a quoted cell goes on to the next line with an odd number of quotes
        for line in further:
            parts.append(line)
            size += len(line)
            if _is_odd(line):
                break
            if size > _MOST:
                return TableRow(number, (), raw, "a quote that opens in this row is not closed soon enough")
        else:
            return TableRow(number, (), raw, "a quote that opens in this row is never closed")
    whole = "".join(parts)
    inner = [strip_line_end(part, first=number == 1 and part is raw) for part in parts]
    cells, problem = split_quoted("\n".join(inner), layout.delimiter or ",")
    return TableRow(number, (), raw, problem) if problem else TableRow(number, cells, whole)


def split_quoted(record: str, delimiter: str) -> tuple[tuple[str, ...], str]:
    """The cells of a record, or what is wrong with its quotes."""
    cells: list[str] = []
    field, at, more = _field(delimiter), 0, True
    while more:
        match = field.match(record, at)
        if match is None:
            return (), (
                f"field {len(cells) + 1} has a quote in the wrong place; "
                'put the field between quotes and write "" for a quote inside'
            )
        quoted, after_quoted, plain, after_plain = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        at, more = match.end(), bool(after_quoted or after_plain)
    return tuple(cells), ""


def _is_odd(line: str) -> bool:
    return line.count('"') % 2 == 1


# The standard library's reader refuses fields over 128 KB unless a setting of the whole process
# is changed, and reads on to the end of the file after a stray quote without a word.
@cache
def _field(delimiter: str) -> re.Pattern[str]:
    d = re.escape(delimiter)
    return re.compile(rf'"([^"]*(?:""[^"]*)*)"({d}|\Z)|((?!")[^{d}\n]*)({d}|\Z)')
