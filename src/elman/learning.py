"""From a recipe to a model folder: read, build, fit, save."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from elman import artifact
from elman.cells import parameter_count
from elman.config import build, override, plain
from elman.config import read as config_from
from elman.errors import ConfigError, DataError, ModelError
from elman.tasks.classifier import Classifier, Data, Encoded, Example, Model, read
from elman.tasks.settings import Tokens
from elman.text import codec
from elman.text.batching import batches
from elman.text.vocab import Labels
from elman.training.batches import Batches
from elman.training.distributed import leads, place, restarted
from elman.training.fit import fit
from elman.training.run import resumption, run
from elman.training.settings import Settings
from elman.training.validation import Validation


@dataclass(frozen=True)
class Recipe:
    """Everything that a training run depends on; a TOML file, ``--set`` and flags say these names."""

    task: Literal["classifier"] = "classifier"
    data: Data = field(default_factory=Data)
    tokens: Tokens = field(default_factory=Tokens)
    model: Model = field(default_factory=Model)
    training: Settings = field(default_factory=lambda: Settings(lr=2e-3, epochs=15, patience=4))
    tensorboard: bool = False


@dataclass(frozen=True)
class Outcome:
    """A finished run."""

    model: Classifier
    metrics: dict[str, Any]


def train(
    recipe: str | os.PathLike[str] | dict[str, Any],
    out: str | os.PathLike[str],
    *,
    set: Iterable[str] = (),
    resume: bool = False,
    device: str = "cpu",
    init: str | os.PathLike[str] | None = None,
) -> Classifier:
    """Train by a recipe, a TOML file or a dict of the same shape, into the model folder ``out``.

    ``set`` holds overrides: ``["model.hidden=256"]``. An interrupted run is a ModelError; ``resume`` goes on.
    """
    if isinstance(recipe, dict):
        for text in set:
            recipe = override(recipe, text)
        chosen = build(Recipe, recipe)
    else:
        chosen = config_from(Recipe, Path(recipe), set)
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
    recipe = _found(recipe)
    if not recipe.data.train:
        raise ConfigError("data.train is missing: which file holds the training examples?")
    training, held = _examples(recipe)
    torch.manual_seed(recipe.training.seed)
    model = _model(recipe, training, out, resume=resume or restarted(), init=init)
    model.net.to(place(device))
    data, valid = model.encode(training), model.encode(held)
    model.learn_from(data)
    config = plain(recipe)
    seen = {"examples": len(data), "tokens": sum(map(len, data.rows))}
    fingerprint = _lasting(config) | {"seen": seen}
    settings = recipe.training if held else replace(recipe.training, patience=0)
    validation = Validation(lambda: model.evaluate(valid), model.metric) if held else None
    snapshot = resumption(out, fingerprint, asked=resume)
    if leads() and snapshot is None:
        out.mkdir(parents=True, exist_ok=True)
        # An earlier model here ends: with a new vocabulary beside it, it would load wrongly.
        (out / "config.json").unlink(missing_ok=True)
        model.store(out)
    events = fit(
        model.net,
        _Batches(recipe, data, model.weight),
        model.loss,
        settings,
        validation,
        resume=snapshot,
    )
    end = run(events, out, fingerprint, unit=model.unit, tensorboard=recipe.tensorboard)
    if end is None:
        return None
    metrics: dict[str, Any] = {"valid": end.scores, "updates": end.number, "stopped": end.reason}
    if recipe.data.test:
        metrics["test"] = model.evaluate(model.encode(read(recipe.data, recipe.data.test)))
    if leads():
        card = _card(recipe, model, metrics, seen)
        artifact.save(model, out, config=config, metrics=metrics, card=card)
    return Outcome(model, metrics)


class _Batches(Batches[Encoded]):
    """Buckets of like length, planned anew each epoch from the seed."""

    def __init__(self, recipe: Recipe, data: Encoded, weigh: Callable[[Encoded], float]) -> None:
        self.recipe, self.data, self.weigh = recipe, data, weigh
        self.lengths = [len(row) for row in data.rows]
        self._planned: tuple[int, list[list[int]]] = (-1, [])

    def __call__(self, epoch: int, start: int) -> Iterator[Encoded]:
        return (self.data.pick(index) for index in self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    def weight(self, batch: Encoded) -> float:
        return self.weigh(batch)

    def share(self, batch: Encoded, rank: int, size: int) -> Encoded:
        return batch.pick(range(rank, len(batch), size))

    def _plan(self, epoch: int) -> list[list[int]]:
        if self._planned[0] != epoch:
            # A few hundred lines still make a hundred updates an epoch.
            fitting = min(2048, max(128, sum(self.lengths) // 100))
            tokens, seed = self.recipe.data.batch or fitting, self.recipe.training.seed
            plan = batches(self.lengths, tokens=tokens, seed=seed, epoch=epoch)
            self._planned = epoch, plan
        return self._planned[1]


def _model(
    recipe: Recipe, examples: Sequence[Example], out: Path, *, resume: bool, init: Path | None
) -> Classifier:
    """A fresh model; resumed or given, with the vocabulary it had."""
    if init is not None:
        model = artifact.load(init)
        if replace(model.model, dropout=0, word_dropout=0) != replace(
            recipe.model, dropout=0, word_dropout=0
        ):
            raise ConfigError(f"{init} has another model: {model.model}; give the same options")
        return model
    model = Classifier.fresh(recipe.model, recipe.tokens, examples)
    if resume and (out / "labels.json").exists():
        # Some tokenizers do not come out the same twice.
        words, labels = codec.load(out), Labels.load(out / "labels.json")
        if len(words.items) != len(model.words.items) or labels != model.labels:
            raise ModelError(f"{out} was trained on other data: its vocabulary differs")
        model.words = words
    return model


def _examples(recipe: Recipe) -> tuple[list[Example], list[Example]]:
    """Training and validation examples; these are held out of those where no file is given."""
    data = recipe.data
    examples = list(read(data, data.train, train=True))
    if data.valid:
        held = list(read(data, data.valid))
        if not held:
            raise DataError(f"{data.valid}: none of its labels is named in data.labels")
        return examples, held
    if not data.holdout:
        return examples, []
    order = np.random.default_rng(0).permutation(len(examples))
    count = max(1, int(len(examples) * data.holdout))
    if count >= len(examples):
        raise DataError(f"{data.train}: too few examples ({len(examples)}) to hold any out")
    chosen = set(order[:count].tolist())
    known = {e.label for i, e in enumerate(examples) if i not in chosen}
    held = [e for i, e in enumerate(examples) if i in chosen and e.label in known]
    return [e for i, e in enumerate(examples) if i not in chosen], held


def _found(recipe: Recipe) -> Recipe:
    """The recipe with variables in its paths replaced by what they stand for."""
    data = replace(
        recipe.data, **{n: _expand(getattr(recipe.data, n)) for n in ("train", "valid", "test")}
    )
    model = replace(recipe.model, vectors=_expand(recipe.model.vectors))
    return replace(recipe, data=data, model=model)


def _expand(path: Any) -> Any:
    if isinstance(path, tuple):
        return tuple(_expand(p) for p in path)
    expanded = os.path.expandvars(path)
    unset = re.match(r"\$\{?(\w+)", expanded)
    if unset:
        raise ConfigError(
            f"{path} begins with ${unset[1]}, which is not set: export {unset[1]}=FOLDER"
        )
    return expanded


def _lasting(config: Mapping[str, Any]) -> dict[str, Any]:
    """What a resumed run must have in common: all but how long to run and what to show."""
    free = ("minutes", "checkpoint_minutes")
    training = {k: v for k, v in config["training"].items() if k not in free}
    return {**config, "training": training, "tensorboard": None}


def _card(
    recipe: Recipe, model: Classifier, metrics: Mapping[str, Any], seen: Mapping[str, int]
) -> str:
    def line(scores: Mapping[str, float]) -> str:
        return ", ".join(f"{name} {value:.2f}" for name, value in scores.items())

    data, m = recipe.data, recipe.model
    results = [
        f"- {part}: {line(metrics[part])}" for part in ("valid", "test") if metrics.get(part)
    ]
    covered = [f"- pretrained vectors cover {model.coverage}"] if model.coverage else []
    command = shlex.join(["elman", *sys.argv[1:]])
    encoder = f"{m.layers} × {m.cell}, {m.hidden} units" if m.encoder == "rnn" else m.encoder
    return "\n".join(
        [
            "# A text classifier by Elman",
            "",
            f"- labels: {', '.join(model.labels.items)}",
            f"- training data: {data.train}, {seen['examples']:,} examples, {seen['tokens']:,} tokens",
            f"- network: {encoder}, {parameter_count(model.net):,} parameters",
            *covered,
            f"- training: {metrics['updates']:,} updates, stopped by {metrics['stopped']}",
            "",
            "## Results",
            *(results or ["not evaluated"]),
            "",
            "## Use",
            "```",
            "elman predict THIS_FOLDER texts.txt",
            "```",
            "```python",
            "import elman",
            'elman.load("THIS_FOLDER").classify(["some text"])',
            "```",
            "",
            f"Made by `{command}`; all settings are in config.json.",
            "",
        ]
    )
