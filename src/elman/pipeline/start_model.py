"""The model that a run starts from: an untrained one, or one that was trained before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from elman import artifact
from elman.cells import OwnCell
from elman.config import to_plain
from elman.errors import ConfigError
from elman.files.model_files import CELL, TASK_FILES
from elman.pipeline.pretrain_encoder import add_words
from elman.pipeline.recipe import Recipe
from elman.pipeline.start_options import starts_from_lm
from elman.tasks.base import Task
from elman.tasks.language_model_start import start_from_language_model
from elman.training.distributed import is_main_process


def start_model(
    recipe: Recipe, examples: Any, out: Path, *, resume: bool, init: Path | None, texts: list[str]
) -> Task:
    """An untrained model that knows the words of ``texts``, too; resumed or given, with its own vocabulary."""
    if init is not None and not starts_from_lm(recipe, init):
        return _fine_tune(recipe, examples, init)
    model = recipe.task_class.from_examples(recipe.model, recipe.tokens, examples)
    if folders := getattr(recipe.model, "lm_folders", {}):
        model = model.add_readers({way: artifact.load(path, device="cpu") for way, path in folders.items()})
    model = add_words(recipe, model, texts)
    if init is not None:
        model, told = start_from_language_model(model, recipe.tokens, artifact.load(init, device="cpu"))
        if is_main_process():
            print(f"starts from {init}: {told}", file=sys.stderr, flush=True)
    if resume and any((out / name).exists() for name in TASK_FILES):
        model.reuse_vocab(out)  # some tokenizers do not come out the same twice
    return model


def _fine_tune(recipe: Recipe, examples: Any, folder: Path) -> Task:
    """The model in a folder, with the options of the recipe, which may differ as far as weights do not.

    What examples have and it does not know is added; what it knows and they do not have is kept.
    """
    stored = artifact.read_config(folder)
    if stored["task"] != recipe.task:
        raise ConfigError(f"{folder} holds a {stored['task']}, which cannot begin a {recipe.task}")
    if stored.get("tokens") != to_plain(recipe.tokens):
        raise ConfigError(f"{folder} has other tokens: {stored.get('tokens')}; give the same")
    asked_cell = recipe.model.cell
    code = asked_cell if isinstance(asked_cell, OwnCell) and asked_cell.data is None else None
    model = artifact.load(folder, device="cpu", cell=code)
    for name, was, asked in differing_options(model.config, recipe.model):
        hint = f"; give --cell {folder / CELL}" if name == "cell" and isinstance(was, OwnCell) else ""
        raise ConfigError(f"model.{name} is {asked!r}, but {folder} was trained with {was!r}{hint}")
    if bool(model.config.vectors) != bool(recipe.model.vectors):
        raise ConfigError(f"{folder} was trained with vectors or this is, not both; say the same")
    model, growth = artifact.load(folder, device="cpu", options=recipe.model).grow(recipe.tokens, examples)
    if is_main_process():
        print(f"starts from {folder}: {growth.describe()}", file=sys.stderr, flush=True)
    return model


def differing_options(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The options of two models that differ, of those that their weights depend on."""
    for name in (f.name for f in fields(one) if f.name not in one.changeable):
        left, right = getattr(one, name), getattr(other, name)
        if left != right:
            yield name, left, right
