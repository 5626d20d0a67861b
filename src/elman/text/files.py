"""Text files as lines."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from itertools import zip_longest
from typing import IO, cast

from elman.errors import ConfigError, DataError
from elman.text.byte_source import Source, display_name, open_bytes
from elman.text.magic_bytes import LONGEST, find_kind

BOM = "\ufeff"


def read_raw_lines(
    source: Source, *, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[tuple[int, str]]:
    r"""The numbered lines of a file as they stand: line ends and byte order mark are kept.

    Only ``\n`` ends a line; U+2028, form feeds and their like are characters of the text. ``errors`` says what
    becomes of bytes that are no text, as in ``bytes.decode``.
    """
    name, number = display_name(source), 0
    with open_bytes(source) as stream:
        head = stream.peek(LONGEST) if hasattr(stream, "peek") else b""
        if kind := find_kind(head):
            raise DataError(f"{name}: this is {kind}")
        text = _decode(stream, encoding, errors)
        try:
            for line in text:
                if number == 0 and line == BOM:
                    break
                number += 1
                yield number, line
        except UnicodeDecodeError as error:
            raise DataError(_undecodable(error, name, number, encoding)) from None
        except UnicodeError as error:
            raise DataError(f"{name}: the file is not {encoding.upper()} ({error})") from None
        finally:
            text.detach()  # or it would close standard input behind us
    if number == 0:
        raise DataError(f"{name}: the file is empty")


def read_lines(source: Source, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """The numbered lines of a file without their ends; a blank line is a line."""
    for number, line in read_raw_lines(source, encoding=encoding):
        yield number, strip_line_end(line, first=number == 1)


def read_parallel(
    sources: Sequence[Source], *, encoding: str = "utf-8"
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line i of every file, numbered; files of different length are an error found at the end."""
    if [*map(display_name, sources)].count("stdin") > 1:
        raise ConfigError("standard input (-) can stand for one of the files only")
    files = [read_lines(source, encoding=encoding) for source in sources]
    for number, row in enumerate(zip_longest(*files), start=1):
        texts = tuple(numbered[1] for numbered in row if numbered is not None)
        if len(texts) < len(files):
            # The longer files have given line `number` already; the shorter ones ended before it.
            counts = [
                number - 1 if numbered is None else number + sum(1 for _ in rest)
                for numbered, rest in zip(row, files, strict=True)
            ]
            pairs = zip(sources, counts, strict=True)
            said = ", ".join(f"{display_name(source)} has {count} lines" for source, count in pairs)
            raise DataError(f"{said}; line i of one must belong to line i of the other")
        yield number, texts


def strip_line_end(line: str, *, first: bool) -> str:
    r"""A line without ``\n`` or ``\r\n`` and, where it is the first, without a byte order mark."""
    line = line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")
    return line.removeprefix(BOM) if first else line


def _decode(stream: BufferedIOBase, encoding: str, errors: str) -> io.TextIOWrapper:
    try:
        # The cast is for the type checker, which asks for a name that the wrapper does not.
        return io.TextIOWrapper(cast(IO[bytes], stream), encoding, errors, newline="\n")
    except LookupError:
        raise ConfigError(
            f"unknown encoding {encoding!r}; utf-8, latin-1, cp1252 and utf-16 are some that exist"
        ) from None


def _undecodable(error: UnicodeDecodeError, name: str, number: int, encoding: str) -> str:
    # The wrapper decodes a block at a time and only when all whole lines before it were handed
    # out, so the block starts in line number + 1.
    before = error.object[: error.start].decode(encoding, "replace")
    line = number + 1 + before.count("\n")
    advice = "try --encoding latin-1" if encoding.lower() in ("utf-8", "utf8") else "try another --encoding"
    if number == 0 and error.object.startswith((b"\xff\xfe", b"\xfe\xff")):
        advice = "try --encoding utf-16"
    elif b"\0" in error.object:
        advice = "this looks like a binary file, not a text"
    return f"{name}:{line}: byte {error.object[error.start]:#04x} is not {encoding.upper()}; {advice}"
