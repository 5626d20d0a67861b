"""From a recipe to a model folder: read, build, fit, save."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch

from elman import artifact
from elman.config import override, plain
from elman.errors import ConfigError, ModelError
from elman.learning.card import card
from elman.learning.examples import counted, planned, split
from elman.learning.objective import aim
from elman.learning.preparing import watched
from elman.learning.recipe import Recipe, build, found, read
from elman.tasks.kinds import TASKS, Task
from elman.tasks.language_model import Data as TextData
from elman.tasks.language_model import LanguageModel
from elman.tasks.seq2seq import Data as PairData
from elman.training.distributed import leads, place, restarted
from elman.training.fit import fit
from elman.training.run import resumption, run
from elman.training.validation import Validation


@dataclass(frozen=True)
class Outcome:
    """A finished run."""

    model: Task
    metrics: dict[str, Any]


def train(
    recipe: str | os.PathLike[str] | dict[str, Any],
    out: str | os.PathLike[str],
    *,
    set: Iterable[str] = (),
    resume: bool = False,
    device: str = "cpu",
    init: str | os.PathLike[str] | None = None,
) -> Task:
    """Train by a recipe, a TOML file or a dict of the same shape, into the model folder ``out``.

    ``set`` holds overrides: ``["model.hidden=256"]``. An interrupted run is a ModelError; ``resume`` goes on.
    """
    if isinstance(recipe, dict):
        for text in set:
            recipe = override(recipe, text)
        chosen = build(recipe)
    else:
        chosen = read(Path(recipe), set)
    start = None if init is None else Path(init)
    outcome = learn(chosen, Path(out), resume=resume, device=device, init=start)
    if outcome is None:
        raise ModelError(f"training was interrupted; go on with resume=True into {out}")
    return outcome.model


def learn(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    device: str = "cpu",
    init: Path | None = None,
) -> Outcome | None:
    """Train into the folder ``out``; None if it was interrupted (then ``resume`` goes on)."""
    recipe, kind = found(recipe), TASKS[recipe.task]
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    training, held = map(watched, split(recipe.data, kind.read))
    torch.manual_seed(recipe.training.seed)
    model = _model(recipe, training, out, resume=resume or restarted(), init=init)
    model.net.to(place(device))
    data, valid = model.encode(training), _held(recipe, model, held)
    model.learn_from(data)
    config, seen = plain(recipe), counted(data)
    fingerprint = _lasting(config) | {"seen": seen}
    settings = recipe.training if valid else replace(recipe.training, patience=0)
    goal = aim(recipe, model)
    validation = (
        Validation(lambda: model.judge(valid) | goal.told(), model.metric, model.best)
        if valid
        else None
    )
    snapshot = resumption(out, fingerprint, asked=resume)
    if leads() and snapshot is None:
        out.mkdir(parents=True, exist_ok=True)
        # An earlier model here ends: with a new vocabulary beside it, it would load wrongly.
        (out / "config.json").unlink(missing_ok=True)
        model.store(out)
    events = fit(
        goal.net,
        planned(data, recipe.data, settings.seed, model),
        goal.loss,
        settings,
        validation,
        resume=snapshot,
    )
    end = run(events, out, fingerprint, unit=model.unit, tensorboard=recipe.tensorboard)
    if end is None:
        return None
    metrics: dict[str, Any] = {"valid": end.scores, "updates": end.number, "stopped": end.reason}
    if recipe.data.test:
        metrics["test"] = model.evaluate(model.encode(kind.read(recipe.data, recipe.data.test)))
    if leads():
        text = card(recipe, model, metrics, seen)
        artifact.save(model, out, config=config, metrics=metrics, card=text)
    return Outcome(model, metrics)


def _held(recipe: Recipe, model: Task, held: Any) -> Any:
    """What is judged by: all of a file, or of what was held out what can be judged."""
    if isinstance(model, LanguageModel):
        assert isinstance(recipe.data, TextData)
        if held is None:
            return None
        found = model.encode(held)
        # Each stream begins without a past, which must not weigh much.
        return replace(found, rows=min(recipe.data.valid_batch, max(1, len(found) // 2000)))
    held = held if recipe.data.valid else [e for e in held if model.knows(e)]
    if isinstance(recipe.data, PairData) and 0 < recipe.data.judged < len(held):
        held = [held[i * len(held) // recipe.data.judged] for i in range(recipe.data.judged)]
    return model.encode(held)


def _model(recipe: Recipe, examples: Any, out: Path, *, resume: bool, init: Path | None) -> Task:
    """A fresh model; resumed or given, with the vocabulary it had."""
    if init is not None:
        return _initial(recipe, init)
    model = TASKS[recipe.task].fresh(recipe.model, recipe.tokens, examples)
    if resume and any((out / name).exists() for name in STORED):
        model.adopt(out)  # some tokenizers do not come out the same twice
    return model


STORED = (
    "labels.json",
    "vocab.json",
    "tokenizer.json",
    "source-vocab.json",
    "source-tokenizer.json",
)
"""What a task has stored in a folder, some or all of it."""

FREE = (
    *("dropout", "word_dropout", "smoothing", "balanced", "adversarial"),
    *("vectors", "vector_words", "loss", "beam"),
    *("input_dropout", "layer_dropout", "weight_drop", "alpha", "beta"),
    *("coverage", "metric", "bleu", "longest", "replace"),
)
"""Options of a model that may change when it is trained on: its weights fit as well."""


def _initial(recipe: Recipe, folder: Path) -> Task:
    """The model in a folder, with the options of the recipe, which may differ as far as weights do not."""
    stored = artifact.read_config(folder)
    if stored["task"] != recipe.task:
        raise ConfigError(f"{folder} holds a {stored['task']}, which cannot begin a {recipe.task}")
    if stored.get("tokens") != plain(recipe.tokens):
        raise ConfigError(f"{folder} has other tokens: {stored.get('tokens')}; give the same")
    model = artifact.load(folder)
    for name in (f.name for f in fields(model.model) if f.name not in FREE):
        was, asked = getattr(model.model, name), getattr(recipe.model, name)
        if was != asked:
            raise ConfigError(f"model.{name} is {asked!r}, but {folder} was trained with {was!r}")
    if bool(model.model.vectors) != bool(recipe.model.vectors):
        raise ConfigError(f"{folder} was trained with vectors or this is, not both; say the same")
    return artifact.load(folder, options=recipe.model)


def _lasting(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run must have in common: all but how long to run and what to show."""
    free = ("minutes", "checkpoint_minutes")
    training = {k: v for k, v in config["training"].items() if k not in free}
    return {**config, "training": training, "tensorboard": None}
