"""Where bytes come from: a file, plain or packed, a pipe, or `-` for standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from io import BufferedIOBase
from typing import Any, cast

from elman.errors import DataError, printable
from elman.text.zstandard_file import ZstandardFile

Source = str | os.PathLike[str]

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""Endings of files that are unpacked while they are read."""


class PipeContent(str):
    """A pipe in the place of a file, with all that came out of it: so it can be read again."""

    content: bytes


def hold_pipe(source: str) -> str:
    """A source that can be read again and again: what can be read only once is read now, and held in memory."""
    if isinstance(source, PipeContent) or not is_pipe(source):
        return source
    held = PipeContent(source)
    with open_bytes(source) as stream:
        held.content = stream.read()
    return held


def is_pipe(source: Source) -> bool:
    """Whether a source is standard input, a pipe such as ``<(command)``, or a terminal."""
    if is_stdin(source):
        return True
    mode = _mode(source)
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and _ends(source))


def _mode(source: Source) -> int:
    try:
        return os.stat(source).st_mode
    except (OSError, ValueError):
        return 0  # whoever opens it says why


def _ends(device: Source) -> bool:
    """Whether a device has an end: /dev/null has, and a terminal; /dev/zero has none."""
    with open(device, "rb", buffering=0) as file:
        return file.isatty() or os.path.samefile(device, os.devnull)


@contextmanager
def open_bytes(source: Source) -> Iterator[BufferedIOBase]:
    """The unpacked bytes of a source; whatever goes wrong while it is open is a DataError."""
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
        if error.errno is None:  # of bz2, which has no error of its own
            raise DataError(f"{name}: the compressed data is damaged or cut short ({error})") from None
        raise DataError(f"{name}: cannot be read ({error.strerror})") from None


def _damage() -> tuple[type[Exception], ...]:
    """What damaged archives raise; that of an optional package only where it was imported."""
    zstandard = sys.modules.get("zstandard")
    known = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
    return known if zstandard is None else (*known, zstandard.ZstdError)


def display_name(source: Source) -> str:
    """The name of a source in messages."""
    return "stdin" if os.fspath(source) == "-" else printable(os.fspath(source))


def is_stdin(source: Source) -> bool:
    """Whether a source is standard input, `-`, which nobody has read yet."""
    return os.fspath(source) == "-" and not isinstance(source, PipeContent)


def file_extension(source: Source) -> str:
    """The lower-case ending that says the format: `.tsv` for `a.TSV`, `a.tsv.gz` and `a.tsv.zst`."""
    root, last = os.path.splitext(os.fspath(source).lower())
    return os.path.splitext(root)[1] if last in COMPRESSED else last


def _open(source: Source) -> AbstractContextManager[BufferedIOBase]:
    if isinstance(source, PipeContent):
        return io.BufferedReader(io.BytesIO(source.content))
    if is_stdin(source):
        return nullcontext(cast(BufferedIOBase, sys.stdin.buffer))
    path = os.fspath(source)
    check_name(path)
    if stat.S_ISBLK(_mode(path)) or (stat.S_ISCHR(_mode(path)) and not _ends(path)):
        raise DataError(f"{path}: this is a device, not a file")
    ending = os.path.splitext(path.lower())[1]
    if ending == ".zst":
        return io.BufferedReader(ZstandardFile(path))
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending, open)
    return cast("AbstractContextManager[BufferedIOBase]", unpack(path, "rb"))


def check_name(path: str) -> None:
    """Refuse what no file can be called: a NUL, half of a surrogate pair."""
    try:
        bad = b"\0" in os.fsencode(path)
    except UnicodeEncodeError:
        bad = True
    if bad:
        raise DataError(f"{path!r}: no file can have this name")
