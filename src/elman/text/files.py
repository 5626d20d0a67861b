"""Text files as lines: plain, `.gz`, `.xz`, `.zst`, or `-` for standard input."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedIOBase
from itertools import zip_longest
from typing import IO, cast

from elman.errors import ConfigError, DataError
from elman.text.optional_packages import import_optional

Source = str | os.PathLike[str]

BOM = "\ufeff"

COMPRESSED = (".gz", ".xz", ".zst")
"""Endings of files that are unpacked while they are read."""


# What a text file is when it starts like this, and what to do about it.
_NOT_TEXT = {
    b"\x1f\x8b": "the file is gzip-compressed, so its name must end in .gz",
    b"\xfd7zXZ": "the file is xz-compressed, so its name must end in .xz",
    b"\x28\xb5\x2f\xfd": "the file is compressed by zstandard, so its name must end in .zst",
    b"\xff\xfe": "try --encoding utf-16",
    b"\xfe\xff": "try --encoding utf-16",
}


def read_raw_lines(
    source: Source, *, encoding: str = "utf-8", errors: str = "strict"
) -> Iterator[tuple[int, str]]:
    r"""The numbered lines of a file as they stand: line ends and byte order mark are kept.

    Only ``\n`` ends a line; U+2028, form feeds and their like are characters of the text. ``errors`` says what
    becomes of bytes that are no text, as in ``bytes.decode``.
    """
    name, number = display_name(source), 0
    with open_bytes(source) as stream:
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
    if sum(map(is_stdin, sources)) > 1:
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


@contextmanager
def open_bytes(source: Source) -> Iterator[BufferedIOBase]:
    """The unpacked bytes of a file; whatever goes wrong while it is open is a DataError."""
    name = display_name(source)
    try:
        with _open(source) as stream:
            yield stream
    except _damage() as error:
        raise DataError(f"{name}: the compressed data is damaged or cut short ({error})") from None
    except FileNotFoundError:
        raise DataError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{name}: this is a directory, not a file") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read ({error.strerror or error})") from None


def _damage() -> tuple[type[Exception], ...]:
    """What damaged archives raise; that of an optional package only where it was imported."""
    zstandard = sys.modules.get("zstandard")
    known = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
    return known if zstandard is None else (*known, zstandard.ZstdError)


def display_name(source: Source) -> str:
    """The name of a source in messages."""
    return "stdin" if is_stdin(source) else os.fspath(source)


def is_stdin(source: Source) -> bool:
    """Whether a source is standard input, `-`."""
    return os.fspath(source) == "-"


def file_extension(source: Source) -> str:
    """The lower-case ending that says the format: `.tsv` for `a.TSV`, `a.tsv.gz` and `a.tsv.zst`."""
    root, last = os.path.splitext(os.fspath(source).lower())
    return os.path.splitext(root)[1] if last in COMPRESSED else last


def _open(source: Source) -> AbstractContextManager[BufferedIOBase]:
    if is_stdin(source):
        return nullcontext(cast(BufferedIOBase, sys.stdin.buffer))
    path = os.fspath(source)
    if "\0" in path:
        raise DataError(f"{path!r}: a file name cannot hold a NUL")
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    if path.lower().endswith(".xz"):
        return lzma.open(path, "rb")
    return _open_zstandard(path) if path.lower().endswith(".zst") else open(path, "rb")


def _open_zstandard(path: str) -> BufferedIOBase:
    zstandard = import_optional("zstandard", "tables", f"{path}: to unpack it")
    return cast(BufferedIOBase, io.BufferedReader(zstandard.open(path, "rb")))


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
    if number == 0:
        starts = (words for magic, words in _NOT_TEXT.items() if error.object.startswith(magic))
        advice = next(starts, advice)
    return f"{name}:{line}: byte {error.object[error.start]:#04x} is not {encoding.upper()}; {advice}"
