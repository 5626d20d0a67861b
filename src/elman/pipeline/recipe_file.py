"""A recipe as a TOML file: its task, and all that is not the default."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from elman.cells import OwnCell
from elman.config import to_plain
from elman.errors import ConfigError, printable
from elman.pipeline.recipe import Recipe, build


def format_recipe(recipe: Recipe, about: str = "") -> str:
    """The text of a file that `elman train` takes; ``about`` is a comment at its top."""
    for name in filter(None, (recipe.data.train, recipe.data.valid, recipe.data.test)):
        if any(printable(path) != path for path in ((name,) if isinstance(name, str) else name)):
            raise ConfigError(f"{printable(str(name))} is not UTF-8, as the names in a recipe are; rename it")
    values, defaults = to_plain(recipe), to_plain(build({"task": recipe.task}))
    if isinstance(recipe.model.cell, OwnCell):
        values["model"]["cell"] = recipe.model.cell.code or str(recipe.model.cell)
    changed = {"task": recipe.task} | _differences(values, defaults)
    lines = [f"# {line}" for line in about.splitlines()]
    return "\n".join([*lines, *_table(changed, ""), ""])


def _differences(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What is not as in the defaults; a table of another kind is said in full, and what is none is left out."""
    if values.keys() != defaults.keys():
        defaults = {}
    changed = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            value = _differences(value, defaults.get(key, {}))
            if value:
                changed[key] = value
        elif value is not None and (key not in defaults or value != defaults[key]):
            changed[key] = value
    return changed


def _table(values: Mapping[str, Any], where: str) -> Iterator[str]:
    for key, value in values.items():
        if not isinstance(value, Mapping):
            yield f"{_key(key)} = {_literal(value)}"
    for key, value in values.items():
        if isinstance(value, Mapping):
            name = f"{where}{_key(key)}"
            plain = any(not isinstance(inner, Mapping) for inner in value.values())
            yield from ["", f"[{name}]"] if plain else []
            yield from _table(value, f"{name}.")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _literal(name)


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    # JSON's numbers, truth values and texts are TOML's, but for one sign that JSON does not escape.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
