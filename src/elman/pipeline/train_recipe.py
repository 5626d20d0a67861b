"""From a recipe to a model folder: read, build, fit, save."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from elman import artifact
from elman.config import apply_override, to_plain
from elman.errors import ConfigError, ModelError
from elman.model_files import CONFIG
from elman.pipeline.model_card import write_model_card
from elman.pipeline.recipe import (
    TRACKERS,
    Recipe,
    TrainTarget,
    build,
    data_sources,
    expand_paths,
    read,
    train_target,
)
from elman.pipeline.run_record import PYTHON, RunRecord, describe_data, describe_session
from elman.pipeline.start_model import start_model
from elman.pipeline.training_data import read_data
from elman.tasks.base import Task
from elman.tasks.results import ModelRecord
from elman.training.distributed import is_main_process, local_device, was_restarted
from elman.training.evaluation import Validation
from elman.training.run import find_resume_point, follow
from elman.training.training_loop import fit


@dataclass(frozen=True)
class Outcome:
    """A finished run."""

    model: Task
    metrics: dict[str, Any]


def train(
    recipe: str | os.PathLike[str] | dict[str, Any],
    out: str | os.PathLike[str] | None = None,
    *,
    set: Iterable[str] = (),
    resume: bool = False,
    device: str = "cpu",
    init: str | os.PathLike[str] | None = None,
) -> Task:
    """Train by a recipe, a TOML file or a dict of the same shape, into the model folder ``out``, if any.

    ``set`` holds overrides: ``["model.hidden=256"]``. An interrupted run is a ModelError; ``resume`` goes on.
    """
    if out is None:
        with TemporaryDirectory() as folder:
            return train(recipe, folder, set=set, device=device, init=init)
    chosen = build(reduce(apply_override, set, recipe)) if isinstance(recipe, dict) else read(Path(recipe), set)
    start = None if init is None else Path(init)
    in_use = device == "cuda" or torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    gpus = [*range(torch.cuda.device_count())] if in_use else []
    with torch.random.fork_rng(devices=gpus):  # a seed is that of the run, not of its caller
        outcome = run_recipe(chosen, Path(out), resume=resume, device=device, init=start)
    if outcome is None:
        raise ModelError(f"training was interrupted; go on with resume=True into {out}")
    return outcome.model


def run_recipe(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    device: str = "cpu",
    init: Path | None = None,
    command: str = PYTHON,
) -> Outcome | None:
    """Train into the folder ``out``; None if it was interrupted (then ``resume`` goes on).

    ``command`` is what was typed, for the record of the run.
    """
    record = RunRecord(out, describe_session(command, device), recipe.training.seed, init)
    named, recipe = data_sources(recipe), expand_paths(recipe)
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    recipe = replace(recipe, data=recipe.task_class.resolve_data(recipe.data))
    data = read_data(recipe)
    torch.manual_seed(recipe.training.seed)
    model = start_model(recipe, data.training, out, resume=resume or was_restarted(), init=init)
    model.net.to(local_device(device))
    dataset, valid = model.encode(data.training), model.encode_valid(recipe.data, data.held)
    model.fit_statistics(dataset)
    config, stats = to_plain(recipe), model.dataset_stats(dataset)
    fingerprint = _fingerprint(config) | {"seen": stats}
    target = train_target(recipe, model)
    snapshot = find_resume_point(out, fingerprint, asked=resume)
    if is_main_process():
        if snapshot is None:
            _end_earlier_model(model, out)
        record.begin(describe_data(named, data_sources(recipe), data.reports), resumed=snapshot is not None)
    settings = recipe.training if valid else replace(recipe.training, patience=0)
    batches = model.build_batches(dataset, recipe.data, settings.seed)
    validation = _validation(model, valid, target) if valid else None
    events = fit(target.net, batches, target.loss, settings, validation, resume=snapshot)
    end = follow(events, out, fingerprint, unit=model.unit, trackers=recipe.trackers)
    if end is None:
        record.finish()
        return None
    chosen = model.calibrate(valid)
    metrics: dict[str, Any] = {"valid": end.scores | chosen, "updates": end.number, "stopped": end.reason}
    metrics["trained_on"] = stats
    if data.test is not None:
        metrics["test"] = model.evaluate_dataset(model.encode(data.test))
    if is_main_process():
        run = record.finish(end.number)
        card = write_model_card(recipe, model, metrics, stats, run)
        model.record = ModelRecord(recipe.data, config, metrics, card, tuple(data.reports), run)
        artifact.save_model(model, out)
    return Outcome(model, metrics)


def _end_earlier_model(model: Task, out: Path) -> None:
    """A model that is in the folder ends: with a new vocabulary beside it, it would load wrongly."""
    out.mkdir(parents=True, exist_ok=True)
    (out / CONFIG).unlink(missing_ok=True)
    model.save_vocab(out)


def _validation(model: Task, valid: Any, target: TrainTarget) -> Validation:
    return Validation(lambda: model.validate(valid) | target.metrics(), model.metric, model.best)


def _fingerprint(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run must have in common: all but how long to run and what to show."""
    free = ("minutes", "checkpoint_minutes")
    training = {k: v for k, v in config["training"].items() if k not in free}
    return {**config, "training": training, **dict.fromkeys(TRACKERS)}
