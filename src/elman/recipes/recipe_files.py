"""The recipes that come with Elman, found by name, in a checkout and in an installed package."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from elman.errors import ConfigError

PREFIX = "recipe:"  # before the name of a recipe, wherever a recipe's file may stand


def recipe_folder() -> Path:
    """Where the recipes are: in the package, or beside ``src`` in a checkout."""
    here = Path(__file__).parent
    return here if any(here.glob("*.toml")) else here.parents[2] / "recipes"


def list_recipes() -> dict[str, Path]:
    """The file of each recipe, by its name."""
    return {path.stem: path for path in sorted(recipe_folder().glob("*.toml"))}


def find_recipe(recipe: str | os.PathLike[str]) -> Path:
    """The file of a recipe: that of ``recipe:trec``, or the path itself."""
    name = os.fspath(recipe)
    if not name.startswith(PREFIX):
        return Path(recipe)
    known, name = list_recipes(), name.removeprefix(PREFIX)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {PREFIX}{near[0]}?" if near else "`elman recipes` lists them"
        raise ConfigError(f"unknown recipe {name!r}; {hint}")
    return known[name]


def recipe_corpora(path: Path) -> list[str]:
    """The corpora that a recipe reads, as ``elman data get`` names them."""
    found = re.findall(r'"\$ELMAN_DATA/([^/"]+)/', path.read_text(encoding="utf-8"))
    return list(dict.fromkeys(found))
