"""Whether a file is the one it was: by size and time, by samples of its content."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

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
    parts = [str(size).encode()]
    with path.open("rb") as file:
        for i in range(_SAMPLES):
            file.seek(max(0, size - _SAMPLE) * i // (_SAMPLES - 1))
            parts.append(file.read(_SAMPLE))
    return digest(*parts)


def digest(*parts: bytes) -> str:
    """The same 32 hexadecimal digits for the same bytes."""
    return blake2b(b"".join(parts), digest_size=16).hexdigest()
