"""What a training of a trial scored on data that it was not trained on."""

from __future__ import annotations

import json
from math import inf, isfinite
from pathlib import Path
from typing import Any

from elman import artifact
from elman.cells import OwnCell
from elman.errors import ModelError
from elman.files.model_files import FOLDS, METRICS, METRICS_LOG
from elman.pipeline.fold_summary import fold_folder
from elman.pipeline.tuning_plan import TuningPlan
from elman.tasks.base import Task
from elman.text.json_io import read_json


class ScoreReader:
    """Reads scores of trainings, such that more is better; the first model tells which score counts."""

    def __init__(self, plan: TuningPlan) -> None:
        self.plan = plan
        self.metric, self.sign = "", 1.0

    def read(self, folder: Path) -> float:
        """The score of a training, or the mean over its folds."""
        if not self.metric:
            self.learn(folder)
        if self.plan.folds:
            score = read_json(folder / FOLDS)["scores"][self.metric]["mean"]
        else:
            score = read_json(folder / METRICS)["valid"][self.metric]
        return self.sign * score if isfinite(score) else -inf

    def learn(self, folder: Path) -> None:
        """Ask the model in a folder which score counts, and whether more of it is better."""
        model = load_trial(self.plan, folder / fold_folder(1) if self.plan.folds else folder)
        self.metric, self.sign = model.metric, 1.0 if model.best == "max" else -1.0


def find_length(folder: Path, epochs: int) -> dict[str, int]:
    """How long a training is to be that does as this one did: of so many epochs, as far as its minutes let it
    come; or of updates, where 0 epochs are wanted, up to its best evaluation."""
    path = folder / METRICS_LOG
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if not epochs:
            return {"updates": max(int(row["update"]) for row in rows if row.get("best"))}
        if read_json(folder / METRICS)["stopped"] == "minutes":
            epochs = max(int(row["epoch"]) for row in rows if "epoch" in row)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ModelError(f"{path} is not what a training has written; begin a new search") from None
    return {"epochs": epochs}


def load_trial(plan: TuningPlan, folder: Path) -> Task:
    """The model of a trial; a cell that is code is the user's."""
    cell: Any = plan.recipe.model.cell
    code = cell if isinstance(cell, OwnCell) and cell.data is None else None
    return artifact.load(folder, device="cpu", cell=None if code is None else code.code)
