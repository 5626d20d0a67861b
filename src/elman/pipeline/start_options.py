"""The options of a model that a run goes on from: whoever leaves them out means those that it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from elman import artifact
from elman.artifact.model_cell import with_model_cell
from elman.config import build_config, to_plain
from elman.pipeline.choose_defaults import list_keys
from elman.pipeline.recipe import Recipe

LM = "lm"
_TOKENS = ("kind", "lower", "digits")  # how a language model cuts text,
_NETWORK = ("cell", "embedding", "hidden")  # and what its first layer is


def starts_from_lm(recipe: Recipe, folder: Path | None) -> bool:
    """Whether a model of another task, whose encoder can read as a language model does, begins with one."""
    if folder is None or recipe.task == LM or recipe.pretraining is None:
        return False
    return bool(artifact.read_config(folder)["task"] == LM)


def take_options(recipe: Recipe, given: Collection[str], folder: Path) -> tuple[Recipe, frozenset[str]]:
    """The recipe with the network and tokens of the model in a folder, and their keys as given ones, too.

    What the user gives stays; whether it fits the weights is for `start_model` to say. A language model gives
    an encoder its tokens and the size of its first layer; nothing is taken from another task.
    """
    stored = artifact.read_config(folder)
    if starts_from_lm(recipe, folder):
        return _take_parts(recipe, given, folder, {"model": _NETWORK, "tokens": _TOKENS})
    if stored["task"] != recipe.task or "tokens" not in stored:
        return recipe, frozenset(given)
    network = stored["model"] if "model.cell" in given else with_model_cell(stored["model"], folder)
    sections = {"model": network, "tokens": stored["tokens"]}
    merged = {name: _merge(getattr(recipe, name), part, given, name) for name, part in sections.items()}
    taken = {name: build_config(type(getattr(recipe, name)), part) for name, part in merged.items()}
    keys = list_keys({name: to_plain(part) for name, part in taken.items()})
    return replace(recipe, **taken), frozenset(given).union(keys)


def _take_parts(
    recipe: Recipe, given: Collection[str], folder: Path, parts: Mapping[str, Collection[str]]
) -> tuple[Recipe, frozenset[str]]:
    """The recipe with some options of the model in a folder, unless others are given."""
    stored = artifact.read_config(folder)
    network = stored["model"] if "model.cell" in given else with_model_cell(stored["model"], folder)
    found = {"model": network, "tokens": stored["tokens"]}
    taken, keys = {}, set(given)
    for section, names in parts.items():
        new = {name: found[section][name] for name in names if f"{section}.{name}" not in given}
        taken[section] = replace(getattr(recipe, section), **new)
        keys |= {f"{section}.{name}" for name in new}
    return replace(recipe, **taken), frozenset(keys)


def _merge(config: Any, stored: Mapping[str, Any], given: Collection[str], where: str) -> dict[str, Any]:
    """What is stored, with the values of a configuration at the keys that are given."""
    merged = dict(stored)
    for name in (f.name for f in fields(config)):
        key, value = f"{where}.{name}", getattr(config, name)
        if is_dataclass(value):
            merged[name] = _merge(value, stored.get(name, {}), given, key)
        elif key in given:
            merged[name] = value
    return merged
