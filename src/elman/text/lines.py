"""Plain text: one example a line."""

from __future__ import annotations

from collections.abc import Iterator

from elman.text.files import BOM, Source, read


def lines(source: Source, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The numbered lines of a file without their ends; a blank line is a line."""
    for number, line in read(source, encoding=encoding):
        yield number, bare(line, first=number == 1)


def bare(line: str, *, first: bool) -> str:
    r"""A line without ``\n`` or ``\r\n`` and, where it is the first, without a byte order mark."""
    line = line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")
    return line.removeprefix(BOM) if first else line
