"""CSV as RFC 4180 has it, in time and memory linear in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from elman.errors import DataError

# The standard library's reader refuses fields over 128 KB unless a setting of the whole process
# is changed, and reads on to the end of the file after a stray quote without a word.
_FIELD = re.compile(r'"([^"]*(?:""[^"]*)*)"(,|\Z)|((?!")[^,\n]*)(,|\Z)')


def records(numbered: Iterator[tuple[int, str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Fields apart by commas; between quotes may stand commas, line ends and ``""`` for a quote."""
    for start, line in numbered:
        parts = [line]
        if _odd(line):  # a quoted field goes on to the next line with an odd number of quotes
            for _, line in numbered:
                parts.append(line)
                if _odd(line):
                    break
            else:
                raise DataError(f"{name}:{start}: a quote that opens in this row is never closed")
        yield start, _fields("\n".join(parts), f"{name}:{start}")


def _odd(line: str) -> bool:
    return line.count('"') % 2 == 1


def _fields(record: str, where: str) -> list[str]:
    fields: list[str] = []
    at, more = 0, True
    while more:
        match = _FIELD.match(record, at)
        if match is None:
            raise DataError(
                f"{where}: field {len(fields) + 1} has a quote in the wrong place; "
                'put the field between quotes and write "" for a quote inside'
            )
        quoted, after_quoted, plain, after_plain = match.groups()
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        at, more = match.end(), bool(after_quoted or after_plain)
    return fields
