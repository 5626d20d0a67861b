"""Files that take the place of a folder's all at once: a kill at any moment leaves the old or the new.

They are written into a folder inside it. The name of that folder says how far the swap is: once it is
``.complete``, it only remains to remove what they replace; once it is ``.moving``, to move them. Whoever comes
next, a reader or a writer, does what remains. All of this is done by who holds the lock.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from elman.files.atomic_files import sync_path, sync_tree
from elman.files.model_files import CHECKPOINT, CONFIG, MODEL_FILES, RUN_FILES
from elman.folders.folder_lock import FolderInUseError, lock_folder

NEW, COMPLETE, MOVING = ".new", ".complete", ".moving"
BESIDE = ".run"  # where a run keeps its files until its model is complete, if the folder holds others
PATIENCE = 10  # seconds that a reader waits for a swap that another process is at

T = TypeVar("T")


@contextmanager
def stage_files(folder: Path) -> Iterator[Path]:
    """An empty folder to write into; without an error, its files replace those of ``folder``."""
    staging = folder / NEW
    remove_path(staging)  # what a killed process left
    staging.mkdir()
    try:
        yield staging
        sync_tree(staging)
    except BaseException:
        remove_path(staging)
        raise
    os.rename(staging, folder / COMPLETE)
    sync_path(folder)
    finish_swap(folder)


def finish_swap(folder: Path) -> None:
    """Do what remains of a swap, if anything does."""
    complete, moving = folder / COMPLETE, folder / MOVING
    if complete.is_dir():
        files = {path.name for path in complete.iterdir()}
        replaced = {*MODEL_FILES, *((*RUN_FILES, BESIDE) if CHECKPOINT in files else ())}
        for name in replaced - files:
            remove_path(folder / name)
        os.rename(complete, moving)
        sync_path(folder)
    if moving.is_dir():
        for path in sorted(moving.iterdir(), key=lambda path: path.name == CONFIG):
            place = folder / path.name
            if place.is_dir():
                remove_path(place)
            if place.exists() and place.samefile(path):
                path.unlink()  # a checkpoint that was linked: renamed, both names of it would stay
            else:
                os.replace(path, place)
        sync_path(folder)
        moving.rmdir()


def read_settled(folder: Path, read: Callable[[], T]) -> T:
    """What ``read`` finds in the folder; again, where its files were replaced meanwhile."""
    while True:
        _settle(folder)
        version = _version(folder)
        try:
            found = read()
        except Exception:
            if _version(folder) == version:
                raise
        else:
            if _version(folder) == version:
                return found


def _settle(folder: Path) -> None:
    """Have what remains of a swap done, by this process if no other is at it."""
    until = time.monotonic() + PATIENCE
    while _is_swapping(folder):
        try:
            with lock_folder(folder):
                finish_swap(folder)
        except FolderInUseError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


def _is_swapping(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in (COMPLETE, MOVING))


def _version(folder: Path) -> object:
    """Another value after each swap, and within one."""
    try:
        config = (folder / CONFIG).stat()
    except OSError:
        return _is_swapping(folder)
    return _is_swapping(folder), config.st_ino, config.st_mtime_ns, config.st_size


def remove_path(path: Path) -> None:
    """Take away a file or a folder, if there is one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
