"""Who may write into a folder: nothing that somebody made is lost, neither a model nor a run nor a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elman.errors import ConfigError, quote_list
from elman.files.model_files import MODEL_FILES, RUN_FILES
from elman.folders.folder_contents import find_foreign_files, has_model, has_progress, has_progress_beside
from elman.folders.folder_lock import check_unlocked, lock_folder
from elman.folders.folder_swap import BESIDE, finish_swap, stage_files

OVERWRITE = "--overwrite (in Python overwrite=True)"
RESUME = "--resume (in Python resume=True)"


def parse_folder(path: str | os.PathLike[str]) -> Path:
    """The path of a folder; an empty one, as an unset variable gives it, is not the current folder."""
    name = os.fspath(path)
    if not name:
        raise ConfigError("the name of the folder is empty; write . for the current folder")
    try:
        encoded = os.fsencode(name)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise ConfigError(f"{name!r}: no folder can have this name")
    return Path(path)


@contextmanager
def claim_for_saving(folder: Path, *, overwrite: bool) -> Iterator[Path]:
    """Where to write a model that then takes the place of the one in the folder, if there is one."""
    with lock_folder(folder):
        finish_swap(folder)
        if not (overwrite or has_model(folder)):
            _check_may_save(folder)
        with stage_files(folder) as staging:
            yield staging


def _check_may_save(folder: Path) -> None:
    if has_progress(folder):
        run = f"{folder} holds a run that was interrupted"
        raise ConfigError(f"{run}: give another folder, or write into it by {OVERWRITE}")
    if foreign := [name for name in find_foreign_files(folder) if name in MODEL_FILES]:
        raise ConfigError(_describe_foreign(folder, foreign))


def check_may_begin(folder: Path, *, overwrite: bool) -> None:
    """Refuse, before anything is read, a folder that is in use, or that holds something."""
    check_unlocked(folder)
    check_may_train(folder, overwrite=overwrite)


def check_may_train(folder: Path, *, overwrite: bool) -> None:
    """Refuse a folder with something in it that a run could take the place of."""
    if has_progress_beside(folder):
        run = f"{folder / BESIDE} holds a run that was interrupted"
        raise ConfigError(f"{run}: go on with it by {RESUME}, or remove that folder to give it up")
    if overwrite or not folder.exists():
        return
    if has_model(folder):
        raise ConfigError(f"{folder} holds a model: give another folder, or replace it by {OVERWRITE}")
    if has_progress(folder):
        run = f"{folder} holds a run that was interrupted"
        raise ConfigError(f"{run}: go on with it by {RESUME}, or begin anew by {OVERWRITE}")
    if foreign := find_foreign_files(folder):
        raise ConfigError(_describe_foreign(folder, foreign))


def _describe_foreign(folder: Path, names: list[str]) -> str:
    lost = [name for name in names if name in (*MODEL_FILES, *RUN_FILES)]
    cost = f", which replaces {quote_list(lost, 3)}" if lost else ""
    return f"{folder} holds files of others ({quote_list(names, 3)}): give a new folder, or {OVERWRITE}{cost}"
