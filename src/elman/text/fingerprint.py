"""Whether a file is the one it was: by its content, whatever its name and its time say."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from hashlib import blake2b, file_digest
from pathlib import Path

from elman.errors import DataError
from elman.text.byte_source import Source, check_name, display_name, is_stdin

_SETTLED = 2_000_000_000  # nanoseconds: clocks of file systems are coarse, a younger file may change unseen


def corpus_digest(source: Source) -> str:
    """The digest of a text that is read again and again."""
    if is_stdin(source):
        raise DataError("stdin: a corpus is read again and again, so it must be a file")
    check_name(os.fspath(source))
    try:
        return digest_file(source)
    except OSError as error:
        raise DataError(f"{display_name(source)}: cannot be read ({error.strerror})") from None


def digest_file(path: Source) -> str:
    """The SHA-256 of a file; one that nobody wrote to in between is read once in a process."""
    found = os.stat(path)
    times = found.st_mtime_ns, found.st_ctime_ns  # the second one cannot be set
    if time.time_ns() - max(times) < _SETTLED:
        return _digest(path)
    return _remember(os.fspath(path), (found.st_dev, found.st_ino, found.st_size, *times))


@lru_cache(maxsize=1024)
def _remember(path: str, state: tuple[int, ...]) -> str:
    return _digest(path)


def _digest(path: Source) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def digest_folder(folder: Path) -> str:
    """Of the contents of a folder's files, by the order of their names."""
    return digest(*(path.read_bytes() for path in sorted(folder.iterdir())))


def digest(*parts: bytes) -> str:
    """The same 32 hexadecimal digits for the same bytes."""
    return blake2b(b"".join(parts), digest_size=16).hexdigest()
