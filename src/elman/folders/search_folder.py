"""The folder of a search for settings: what it holds, who may write into it, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elman.errors import ConfigError, quote_list
from elman.folders.folder_contents import find_foreign_files, has_model, has_progress
from elman.folders.folder_lock import lock_folder
from elman.folders.folder_swap import remove_path
from elman.folders.output_folder import OVERWRITE

SEARCH = "search.json"  # what was asked for, and how long it took so far
JOURNAL = "study.jsonl"  # all trials, as Optuna keeps them
TRIALS = "trials"  # a folder for each
TABLE, PICTURE = "trials.csv", "tune.png"
RECIPE, MODEL, MODEL_LOG = "recipe.toml", "model", "model.log"  # of the best

_BEGUN = (SEARCH, JOURNAL, f"{JOURNAL}.lock", TRIALS)
SEARCH_FILES = (*_BEGUN, TABLE, PICTURE, RECIPE, MODEL, MODEL_LOG)


def has_search(folder: Path) -> bool:
    """Whether a search was begun there."""
    return (folder / SEARCH).is_file()


@contextmanager
def claim_for_search(folder: Path, *, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Hold a folder for a search; one that is there is gone on with, replaced, or refused.

    The model and the recipe of a search that is replaced stay until there are new ones.
    """
    with lock_folder(folder):
        if resume and not has_search(folder):
            raise ConfigError(f"{folder} holds no search to resume: leave out --resume, or give its folder")
        if not resume:
            _check_may_search(folder, overwrite=overwrite)
            for name in (*_BEGUN, TABLE, PICTURE, MODEL_LOG):
                remove_path(folder / name)
        (folder / f"{JOURNAL}.lock").unlink(missing_ok=True)  # of a killed process; ours is the folder's lock
        yield folder


def _check_may_search(folder: Path, *, overwrite: bool) -> None:
    if has_model(folder) or has_progress(folder):
        what = "a model" if has_model(folder) else "a run that was interrupted"
        raise ConfigError(f"{folder} holds {what}: give another folder")
    if overwrite:
        return
    if has_search(folder):
        raise ConfigError(f"{folder} holds a search: go on with it by --resume, or replace it by {OVERWRITE}")
    if foreign := find_foreign_files(folder):
        lost = [name for name in foreign if name in SEARCH_FILES]
        cost = f", which replaces {quote_list(lost, 3)}" if lost else ""
        said = f"{folder} holds files of others ({quote_list(foreign, 3)})"
        raise ConfigError(f"{said}: give a new folder, or {OVERWRITE}{cost}")
