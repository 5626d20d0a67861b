"""The trackers. Each imports its package when it is made, and begins a run when it is opened."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elman.files.atomic_files import write_atomically
from elman.files.model_files import RUN_IDS

PROJECT = "elman"  # of W&B, and the experiment of MLflow, where their variables name none


class TensorBoardTracker:
    """Files in the folder ``tensorboard``."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        from torch.utils.tensorboard.writer import SummaryWriter

        self.make, self.folder = SummaryWriter, folder / "tensorboard"

    def open(self, updates: int) -> None:
        self.writer = self.make(str(self.folder), purge_step=updates + 1)

    def log(self, numbers: Mapping[str, float], update: int) -> None:
        for name, value in numbers.items():
            self.writer.add_scalar(name, value, update)

    def flush(self) -> None:
        self.writer.flush()

    def close(self, *, finished: bool) -> None:
        self.writer.close()


class WandbTracker:
    """A run of Weights & Biases; its variables (WANDB_PROJECT, WANDB_MODE, WANDB_DIR) say where to."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        import wandb

        self.wandb, self.folder, self.config = wandb, folder, config

    def open(self, updates: int) -> None:
        self.run = self.wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=str(self.folder),
            dir=os.environ.get("WANDB_DIR", str(self.folder)),
            config=dict(self.config),
            id=_read_id(self.folder, "wandb") if updates else None,
            resume="allow",
            settings=self.wandb.Settings(console="off"),
        )
        _store_id(self.folder, "wandb", self.run.id)

    def log(self, numbers: Mapping[str, float], update: int) -> None:
        self.run.log(dict(numbers), step=update)

    def flush(self) -> None:
        """W&B sends by itself."""

    def close(self, *, finished: bool) -> None:
        self.run.finish(exit_code=0 if finished else 130)


class MLflowTracker:
    """A run of MLflow; its variables (MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME) say where to."""

    most = 500  # numbers that are kept back before they are sent

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param

        self.make, self.metric, self.param = MlflowClient, Metric, Param
        self.folder, self.config = folder, config
        self.waiting: list[Any] = []

    def open(self, updates: int) -> None:
        self.client = self.make()
        self.id = _read_id(self.folder, "mlflow") if updates else None
        if self.id is not None:
            self.client.update_run(self.id, status="RUNNING")
            return
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        found = self.client.get_experiment_by_name(name)
        experiment = found.experiment_id if found else self.client.create_experiment(name)
        self.id = self.client.create_run(experiment, run_name=str(self.folder)).info.run_id
        _store_id(self.folder, "mlflow", self.id)
        settings = [self.param(name, str(value)[:500]) for name, value in _flat(self.config)]
        for start in range(0, len(settings), 100):  # no more at a time
            self.client.log_batch(self.id, params=settings[start : start + 100])

    def log(self, numbers: Mapping[str, float], update: int) -> None:
        now = int(1000 * time.time())
        self.waiting += [self.metric(name, value, now, update) for name, value in numbers.items()]
        if len(self.waiting) >= self.most:
            self.flush()

    def flush(self) -> None:
        self.client.log_batch(self.id, metrics=self.waiting)
        self.waiting = []

    def close(self, *, finished: bool) -> None:
        self.flush()
        self.client.set_terminated(self.id, "FINISHED" if finished else "KILLED")


def _flat(config: Mapping[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{where}{key}.")
        else:
            yield f"{where}{key}", value


def _read_id(folder: Path, name: str) -> str | None:
    try:
        return str(json.loads((folder / RUN_IDS).read_text(encoding="utf-8"))[name])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _store_id(folder: Path, name: str, value: str) -> None:
    path = folder / RUN_IDS
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    write_atomically(path, (json.dumps({**stored, name: value}) + "\n").encode())
