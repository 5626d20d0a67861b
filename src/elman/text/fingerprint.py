"""Whether a file is the one it was: by size and time, by samples of its content."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from elman.errors import DataError
from elman.text.files import Source, display_name, is_stdin

_SAMPLES, _SAMPLE = 64, 4096  # how many places of a file are looked at, and how many bytes of each


def file_state(source: Source) -> list[str | int]:
    """The path of a file, its size, and when it was last changed."""
    if is_stdin(source):
        raise DataError("stdin: a corpus is read again and again, so it must be a file")
    try:
        found = os.stat(source)
    except OSError as error:
        raise DataError(f"{display_name(source)}: cannot be read ({error.strerror})") from None
    return [os.path.abspath(source), found.st_size, found.st_mtime_ns]


def sample_digest(path: Path) -> str:
    """A digest of places spread over a file: quick at any size, and holes or another file's ids show."""
    size = path.stat().st_size
    with path.open("rb") as file:
        places = [max(0, size - _SAMPLE) * i // (_SAMPLES - 1) for i in range(_SAMPLES)]
        return digest(str(size).encode(), *(_read(file, place) for place in places))


def _read(file: BinaryIO, place: int) -> bytes:
    file.seek(place)
    return file.read(_SAMPLE)


def digest(*parts: bytes) -> str:
    """The same 32 hexadecimal digits for the same bytes."""
    return blake2b(b"".join(parts), digest_size=16).hexdigest()
