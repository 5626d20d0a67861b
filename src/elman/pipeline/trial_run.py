"""A training of a trial: `elman train RECIPE.toml` in a process of its own, so that its failure is its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from elman.files.atomic_files import write_atomically
from elman.files.model_files import CHECKPOINT, FOLDS, WEIGHTS
from elman.folders.folder_contents import find_run, has_model
from elman.folders.run_folder import give_up_run
from elman.folders.search_folder import TRIALS
from elman.pipeline.fold_summary import fold_folder
from elman.pipeline.recipe import Recipe
from elman.pipeline.recipe_file import format_recipe

PATIENCE = 0.5  # seconds for a training to save and end after a signal


@dataclass
class TrialRun:
    """A training that goes on, or that has ended."""

    trial: int
    rung: int
    folder: Path  # of its model, or of those of its folds
    log: Path
    process: subprocess.Popen[bytes] | None  # None: it had ended before the search was resumed
    begun: float  # by the clock that never goes back

    @property
    def ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    @property
    def failure(self) -> str:
        """Why it failed, in one line; "": it did not."""
        code = self.process.returncode if self.process else 0
        if not code:
            return ""
        lines = self.log.read_text("utf-8", "replace").strip().splitlines()
        if code < 0:
            return f"it was ended by {signal.Signals(-code).name}"
        return lines[-1].removeprefix("elman: ") if lines else f"it ended with code {code}"


def run_folder(out: Path, trial: int, rung: int) -> Path:
    """Where the training of a trial at a rung is."""
    return out / TRIALS / str(trial) / f"rung-{rung + 1}"


@dataclass(frozen=True)
class Launcher:
    """How trainings are started."""

    command: Sequence[str]  # that is `elman`
    device: str
    folds: int = 0

    def start(self, recipe: Recipe, folder: Path, *, trial: int, rung: int) -> TrialRun:
        """Begin a training, or go on with what a killed search left of it."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        file, log = folder.with_name(f"{folder.name}.toml"), folder.with_name(f"{folder.name}.log")
        process = None
        if not self._has_ended(folder):
            write_atomically(file, format_recipe(recipe).encode())
            words = ["train", str(file), "--out", str(folder), "--threads", "1", "--device", self.device]
            process = start_process([*self.command, *words, *self._further(folder)], log)
        return TrialRun(trial, rung, folder, log, process, time.monotonic())

    def train_best(self, recipe: Path, out: Path) -> TrialRun:
        """Begin the training of a recipe on all data; what an interrupted one left is given up."""
        give_up_run(out)
        words = [
            "train",
            str(recipe),
            "--out",
            str(out),
            "--overwrite",
            "--threads",
            "1",
            "--device",
            self.device,
        ]
        log = out.with_name(f"{out.name}.log")
        return TrialRun(0, 0, out, log, start_process([*self.command, *words], log), time.monotonic())

    def _further(self, folder: Path) -> list[str]:
        begun = find_run(folder / fold_folder(1)) if self.folds else find_run(folder)
        return [*(["--folds", str(self.folds)] if self.folds else []), *(["--resume"] if begun else [])]

    def _has_ended(self, folder: Path) -> bool:
        """Whether the training there came to its end before."""
        if not self.folds:
            return has_model(folder)
        return (folder / FOLDS).exists() and has_model(folder / fold_folder(self.folds))


def start_process(words: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A process with one thread that ends with this one; what it says is added to a log."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NO_COLOR": "1"}
    with open(log, "ab") as output:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=os.name == "posix",  # Ctrl-C is for the search, which ends its trainings
        )


def stop_runs(runs: Iterable[TrialRun]) -> None:
    """End trainings: each has a moment to save what it did, for the case that the search is resumed."""
    running = [run.process for run in runs if run.process and not run.ended]
    for process in running:
        process.terminate()
    until = time.monotonic() + PATIENCE
    for process in running:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
        process.kill()
        process.wait()


def drop_weights(folder: Path) -> None:
    """Take away what is large of a training that nobody goes on with; its scores and its log stay."""
    for name in (WEIGHTS, CHECKPOINT):
        for path in [*folder.glob(name), *folder.glob(f"fold-*/{name}")]:
            path.unlink(missing_ok=True)
