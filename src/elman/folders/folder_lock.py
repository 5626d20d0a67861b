"""One writer at a time: a lock on a folder that the system lets go of however its process ends."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elman.errors import ConfigError

LOCK = ".lock"  # in the folder; a name that a killed process left there locks nothing

_NOT_HERE = (errno.ENOTSUP, errno.ENOSYS, errno.ENOLCK)  # what file systems without locks say


class FolderInUseError(ConfigError):
    """Another process holds the lock of a folder."""


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if there is none, and taken away again if it stays empty."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    handle = _take(folder)
    try:
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)  # before it is let go: nobody may hold a file without a name
        os.close(handle)
        for path in missing:
            with suppress(OSError):  # something is in it
                path.rmdir()


def check_unlocked(folder: Path) -> None:
    """Refuse a folder that another process holds now, without holding it."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR)
    except OSError:  # nobody holds it, or it cannot be written into, which is said later
        return
    try:
        _lock(handle, folder)
    finally:
        os.close(handle)


def _take(folder: Path) -> int:
    path = folder / LOCK
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # whoever had made the folder took it away
            continue
        try:
            _lock(handle, folder)
            if _is_at(handle, path):
                _sign(handle, path)
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was let go, and its name taken away, in between


def _sign(handle: int, path: Path) -> None:
    """Write who holds the lock."""
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
    except OSError as error:  # a full disk does not say which file it was
        path.unlink()
        error.filename = os.fspath(path)
        raise


def _lock(handle: int, folder: Path) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(handle, 500, 0).decode("utf-8", "replace") or "another process"
        said = f"{folder} is in use: {holder} writes into it"
        raise FolderInUseError(f"{said}; wait until it ends, or give another folder") from None
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise
        warning = "%s cannot be locked (%s): see to it that nothing else writes there"
        logging.getLogger(__name__).warning(warning, folder, error.strerror)


def _is_at(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
