"""Files that are written whole or not at all, and survive a crash once they are there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO


def write_atomically(path: Path, content: bytes) -> None:
    """Put content at ``path``: a reader sees the old file or the new one, never a part."""
    with open_atomically(path) as file:
        file.write(content)


@contextmanager
def open_atomically(path: Path, temporary: Path | None = None) -> Iterator[BinaryIO]:
    """A file to write, which becomes ``path`` at the end, or vanishes where an error ends the writing."""
    temporary = temporary or temporary_path(path)
    try:
        with open(temporary, "wb") as file:
            yield file
            sync(file)
        os.replace(temporary, path)
    except OSError as error:
        if error.filename in (None, os.fspath(temporary)):  # a full disk does not say which file it was
            error.filename = os.fspath(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)
    sync_path(path.parent)


@contextmanager
def open_result(path: Path) -> Iterator[BinaryIO]:
    """The same for a file that a user names: a link stays one, and what is no plain file is written into.

    Renaming would put a file in the place of ``/dev/null`` or of a pipe. What lies beside it is somebody's.
    """
    if path.exists() and not path.is_file():
        with open(path, "wb") as file:
            yield file
        return
    path = path.resolve()
    with open_atomically(path, path.with_name(f".{os.getpid()}.{path.name[:50]}.tmp")) as file:
        yield file


def write_result(path: Path, content: bytes) -> None:
    """Put content at a path that a user names."""
    with open_result(path) as file:
        file.write(content)


def temporary_path(path: Path) -> Path:
    """Where a file is written before it is renamed."""
    # One name, not one a process: what a killed run left is overwritten by the next.
    return path.with_name(path.name + ".tmp")


def sync(file: IO[bytes]) -> None:
    """Bring what was written to the disk itself, so that no crash leaves a name without its content."""
    file.flush()
    os.fsync(file.fileno())


def sync_tree(folder: Path) -> None:
    """Bring a folder and all that is in it to the disk."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            sync_path(path)
    sync_path(folder)


def sync_path(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    if os.name != "posix":  # elsewhere a folder cannot be opened
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
