"""Settings that nobody gave, chosen by the data: the rules are applied, their choice is said and kept."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

from elman.config import to_plain
from elman.errors import ConfigError
from elman.number_format import format_number
from elman.pipeline.default_facts import Facts
from elman.pipeline.default_rules import RULES
from elman.pipeline.recipe import Recipe
from elman.training.distributed import is_main_process

D = TypeVar("D", bound=Any)
Settings = Mapping[str, Any]  # values by their keys: {"training.lr": 0.003}


class ChosenRecipe(NamedTuple):
    """A recipe with what was chosen for it."""

    recipe: Recipe
    settings: Settings


def list_keys(data: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """The keys that plain data of a recipe gives: ``model.hidden``."""
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            yield from list_keys(value, f"{where}{key}.")
        else:
            yield f"{where}{key}"


def choose_settings(recipe: Recipe, given: Collection[str], facts: Facts) -> ChosenRecipe:
    """The recipe by the rules that hold for these facts; the keys that are given stay as they are.

    A rule that does not go with what was given, such as copying without attention, is left out.
    """
    chosen: dict[str, Any] = {}
    for rule in RULES:
        if rule.task in ("", facts.task) and rule.when(facts):
            values = {key: value(facts) if callable(value) else value for key, value in rule.sets.items()}
            attempt = chosen | {key: value for key, value in values.items() if not _is_given(key, given)}
            if _fits(recipe, given, attempt):
                chosen = attempt
    return ChosenRecipe(apply_settings(recipe, given, chosen), chosen)


def apply_settings(recipe: Recipe, given: Collection[str], settings: Settings) -> Recipe:
    """The recipe with settings at their keys."""
    tree: dict[str, Any] = {}
    for key, value in settings.items():
        *path, last = key.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = value
    if "model" not in tree:
        return _replace(recipe, tree)
    # Some options settle others when they are left out (a decoder by its layers), so all are said anew.
    said = {f.name: getattr(recipe.model, f.name) for f in fields(recipe.model) if f"model.{f.name}" in given}
    return _replace(recipe, {**tree, "model": type(recipe.model)(**said | tree["model"])})


def restore_choice(recipe: Recipe, given: Collection[str], stored: Settings) -> Recipe:
    """The recipe with what was chosen when its run began, as JSON has it."""
    values = {key: tuple(v) if isinstance(v, list) else v for key, v in stored.items() if key not in given}
    return apply_settings(recipe, given, values)


def say_choice(settings: Settings, why: str) -> None:
    """One line on stderr: what was chosen, and for what."""
    if settings and is_main_process():
        said = ", ".join(f"{key} {_describe(value)}" for key, value in settings.items())
        print(f"chosen for {why}: {said}", file=sys.stderr, flush=True)


def _fits(recipe: Recipe, given: Collection[str], settings: Settings) -> bool:
    try:
        apply_settings(recipe, given, settings)
    except ConfigError:
        return False
    return True


def _replace(config: D, values: Mapping[str, Any]) -> D:
    """A configuration with new values, also in the tables within it."""
    changed = {}
    for name, value in values.items():
        old = getattr(config, name)
        changed[name] = _replace(old, value) if isinstance(value, dict) and is_dataclass(old) else value
    return replace(config, **changed)


def _is_given(key: str, given: Collection[str]) -> bool:
    return any(name == key or name.startswith(f"{key}.") for name in given)


def _describe(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, int | float) else str(to_plain(value))
