"""What a folder holds that somebody may want to keep: a model, an unfinished run, files of others."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from elman.files.atomic_files import temporary_path
from elman.files.model_files import (
    BEGUN_FILES,
    CHECKPOINT,
    CONFIG,
    CURVE_FILES,
    CURVE_FOLDER,
    FOLDS,
    RUN,
    SEEDS,
)
from elman.folders.folder_lock import LOCK
from elman.folders.folder_swap import BESIDE, COMPLETE, MOVING, NEW

_OWN = {LOCK, NEW, COMPLETE, MOVING, BESIDE}
_SERIES = re.compile(rf"{CURVE_FOLDER}|(seed|fold)-\d+")  # of several runs, each looked into by itself


def has_model(folder: Path) -> bool:
    """Whether Elman wrote a model there."""
    return "elman" in _read_object(folder / CONFIG)


def has_run(folder: Path) -> bool:
    """Whether a run was begun there."""
    return (folder / CHECKPOINT).exists() or "sessions" in _read_object(folder / RUN)


def has_progress(folder: Path) -> bool:
    """Whether a run there can be resumed after its first update; before it there is nothing to lose."""
    try:
        with open(folder / CHECKPOINT, "rb") as file:
            header = json.loads(file.read(min(int.from_bytes(file.read(8), "little"), 2**27)))
        return bool(json.loads(header["__metadata__"]["state"])["progress"]["update"])
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return True  # damaged, or not ours: not for us to throw away


def has_progress_beside(folder: Path) -> bool:
    """Whether a run was interrupted that is to replace what the folder holds."""
    begun, own = folder / BESIDE / CHECKPOINT, folder / CHECKPOINT
    resumed = begun.exists() and own.exists() and begun.samefile(own)  # and has made no update since
    return has_progress(folder / BESIDE) and not resumed


def find_run(folder: Path) -> Path | None:
    """Where the folder has a run to resume: beside its model, or in it."""
    places = (folder / BESIDE, folder)
    return next((place for place in places if (place / CHECKPOINT).exists()), None)


def find_foreign_files(folder: Path) -> list[str]:
    """The names of what Elman did not write there; of a folder without a model."""
    names = set(os.listdir(folder)) - _OWN
    names -= {temporary_path(folder / name).name for name in BEGUN_FILES}
    if has_run(folder):
        names -= {*BEGUN_FILES}
    if series := {name for name in names if _SERIES.fullmatch(name)}:
        names -= {*series, SEEDS, FOLDS, *CURVE_FILES}
    return sorted(names)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
