"""The folder of a training run: where its files are while it runs, and how its model gets into its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from elman.files.atomic_files import temporary_path
from elman.files.model_files import BEGUN_FILES, CHECKPOINT, MODEL_FILES, RUN_FILES
from elman.folders.folder_contents import find_run, has_model, has_progress, has_progress_beside, has_run
from elman.folders.folder_lock import lock_folder
from elman.folders.folder_swap import BESIDE, NEW, finish_swap, remove_path, stage_files
from elman.folders.output_folder import check_may_train


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and where its files are until its model is complete: in it, or beside others."""

    out: Path
    work: Path

    @contextmanager
    def stage_model(self) -> Iterator[Path]:
        """Where to write the model, which then takes its place, together with the files of the run."""
        with stage_files(self.out) as staging:
            yield staging
            if self.work != self.out:
                _copy_files(self.work, staging, RUN_FILES)


@contextmanager
def claim_for_training(folder: Path, *, resume: bool, overwrite: bool) -> Iterator[RunFolder]:
    """Hold a folder for a run; what is in it is resumed, or kept until the run is over, or refused."""
    with lock_folder(folder):
        finish_swap(folder)
        for name in BEGUN_FILES:
            temporary_path(folder / name).unlink(missing_ok=True)  # of a killed run
        if resume:
            work = _resume_in(folder)
        else:
            check_may_train(folder, overwrite=overwrite)
            work = _begin_in(folder)
        try:
            yield RunFolder(folder, work)
        finally:
            if not has_progress_beside(folder):
                remove_path(folder / BESIDE)


def give_up_run(folder: Path) -> None:
    """Take an interrupted run away, so that another can begin; a model stays."""
    with lock_folder(folder):
        remove_path(folder / BESIDE)
        for name in () if has_model(folder) else BEGUN_FILES:
            remove_path(folder / name)


def _begin_in(folder: Path) -> Path:
    """The folder itself, unless there are files of the names that a run writes."""
    used = any((folder / name).exists() for name in (*MODEL_FILES, *RUN_FILES))
    if not used or (has_run(folder) and not has_model(folder) and not has_progress(folder)):
        return folder
    remove_path(folder / BESIDE)
    (folder / BESIDE).mkdir()
    return folder / BESIDE


def _resume_in(folder: Path) -> Path:
    """Where the interrupted run is; a finished one is copied first, so that its model stays as it is."""
    found = find_run(folder)
    if found != folder or not has_model(folder):
        return found or folder
    copy = folder / NEW
    remove_path(copy)
    copy.mkdir()
    _copy_files(folder, copy, BEGUN_FILES)
    return copy.rename(folder / BESIDE)


def _copy_files(folder: Path, to: Path, names: Iterable[str]) -> None:
    for path in (folder / name for name in names):
        if path.is_dir():
            shutil.copytree(path, to / path.name, symlinks=True)
        elif path.name == CHECKPOINT:
            _link(path, to / CHECKPOINT)  # it is large, and replaced by the next, never written into
        elif path.exists():
            shutil.copyfile(path, to / path.name)


def _link(path: Path, to: Path) -> None:
    try:
        os.link(path, to)
    except OSError:  # not on every file system
        shutil.copyfile(path, to)
