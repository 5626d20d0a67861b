"""From a recipe to a model folder: read, build, fit, save."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from elman import artifact
from elman.config import apply_override, to_plain
from elman.errors import ConfigError, ModelError
from elman.model_files import CONFIG, TASK_FILES
from elman.pipeline.model_card import write_model_card
from elman.pipeline.recipe import Recipe, build, expand_paths, read, train_target
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
    recipe: Recipe, out: Path, *, resume: bool = False, device: str = "cpu", init: Path | None = None
) -> Outcome | None:
    """Train into the folder ``out``; None if it was interrupted (then ``resume`` goes on)."""
    recipe = expand_paths(recipe)
    kind = recipe.task_class
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    training, held = kind.split(recipe.data)
    if is_main_process():
        training, held = (kind.with_progress(part, ReadProgress()) for part in (training, held))
    torch.manual_seed(recipe.training.seed)
    model = _start(recipe, training, out, resume=resume or was_restarted(), init=init)
    model.net.to(local_device(device))
    dataset, valid = model.encode(training), model.encode_valid(recipe.data, held)
    model.fit_statistics(dataset)
    config, stats = to_plain(recipe), model.dataset_stats(dataset)
    fingerprint = _fingerprint(config) | {"seen": stats}
    settings = recipe.training if valid else replace(recipe.training, patience=0)
    target = train_target(recipe, model)
    validation = (
        Validation(lambda: model.validate(valid) | target.metrics(), model.metric, model.best)
        if valid
        else None
    )
    snapshot = find_resume_point(out, fingerprint, asked=resume)
    if is_main_process() and snapshot is None:
        out.mkdir(parents=True, exist_ok=True)
        # An earlier model here ends: with a new vocabulary beside it, it would load wrongly.
        (out / CONFIG).unlink(missing_ok=True)
        model.save_vocab(out)
    batches = model.build_batches(dataset, recipe.data, settings.seed)
    events = fit(target.net, batches, target.loss, settings, validation, resume=snapshot)
    end = follow(events, out, fingerprint, unit=model.unit, tensorboard=recipe.tensorboard)
    if end is None:
        return None
    metrics: dict[str, Any] = {"valid": end.scores, "updates": end.number, "stopped": end.reason}
    if recipe.data.test:
        metrics["test"] = model.evaluate_dataset(model.encode(kind.read(recipe.data, recipe.data.test)))
    if is_main_process():
        card = write_model_card(recipe, model, metrics, stats)
        model.record = ModelRecord(recipe.data, config, metrics, card)
        artifact.save_model(model, out)
    return Outcome(model, metrics)


def _start(recipe: Recipe, examples: Any, out: Path, *, resume: bool, init: Path | None) -> Task:
    """An untrained model; resumed or given, with the vocabulary it had."""
    if init is not None:
        return _fine_tune(recipe, init)
    model = recipe.task_class.from_examples(recipe.model, recipe.tokens, examples)
    if resume and any((out / name).exists() for name in TASK_FILES):
        model.reuse_vocab(out)  # some tokenizers do not come out the same twice
    return model


def _fine_tune(recipe: Recipe, folder: Path) -> Task:
    """The model in a folder, with the options of the recipe, which may differ as far as weights do not."""
    stored = artifact.read_config(folder)
    if stored["task"] != recipe.task:
        raise ConfigError(f"{folder} holds a {stored['task']}, which cannot begin a {recipe.task}")
    if stored.get("tokens") != to_plain(recipe.tokens):
        raise ConfigError(f"{folder} has other tokens: {stored.get('tokens')}; give the same")
    model = artifact.load(folder)
    for name, was, asked in differing_options(model.config, recipe.model):
        raise ConfigError(f"model.{name} is {asked!r}, but {folder} was trained with {was!r}")
    if bool(model.config.vectors) != bool(recipe.model.vectors):
        raise ConfigError(f"{folder} was trained with vectors or this is, not both; say the same")
    return artifact.load(folder, options=recipe.model)


def differing_options(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The options of two models that differ, of those that their weights depend on."""
    for name in (f.name for f in fields(one) if f.name not in one.changeable):
        left, right = getattr(one, name), getattr(other, name)
        if left != right:
            yield name, left, right


def _fingerprint(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run must have in common: all but how long to run and what to show."""
    free = ("minutes", "checkpoint_minutes")
    training = {k: v for k, v in config["training"].items() if k not in free}
    return {**config, "training": training, "tensorboard": None}


class ReadProgress:
    """How far a large text is read, on stderr every few seconds."""

    def __init__(self) -> None:
        self.latest = time.monotonic()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self.latest < 5:
            return
        self.latest = time.monotonic()
        share = f", {100 * done / total:.0f} %" if total else ""
        print(f"{what}: {done / 1e6:,.0f} MB of text{share}", file=sys.stderr, flush=True)
