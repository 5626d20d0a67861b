"""Everything that a training run depends on; a TOML file, ``--set`` and flags say these names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from elman import config
from elman.errors import ConfigError
from elman.objectives import settings as objectives
from elman.tasks import classifier, language_model, seq2seq, tagger
from elman.tasks.settings import Tokens
from elman.training.settings import Settings


@dataclass(frozen=True)
class ClassifierRecipe:
    """A label for a text."""

    task: Literal["classifier"] = "classifier"
    data: classifier.Data = field(default_factory=classifier.Data)
    tokens: Tokens = field(default_factory=Tokens)
    model: classifier.Model = field(default_factory=classifier.Model)
    training: Settings = field(default_factory=lambda: Settings(lr=2e-3, epochs=15, patience=4))
    tensorboard: bool = False


@dataclass(frozen=True)
class TaggerRecipe:
    """A tag for each word."""

    task: Literal["tagger"] = "tagger"
    data: tagger.Data = field(default_factory=tagger.Data)
    tokens: Tokens = field(default_factory=lambda: Tokens(lower=True, digits=True))
    model: tagger.Model = field(default_factory=tagger.Model)
    objective: objectives.Settings = field(default_factory=objectives.LikelihoodSettings)
    training: Settings = field(
        default_factory=lambda: Settings(lr=6e-3, epochs=12, patience=4, average=0.95)
    )
    tensorboard: bool = False


@dataclass(frozen=True)
class LanguageModelRecipe:
    """The next token."""

    task: Literal["lm"] = "lm"
    data: language_model.Data = field(default_factory=language_model.Data)
    tokens: Tokens = field(default_factory=Tokens)
    model: language_model.Model = field(default_factory=language_model.Model)
    objective: objectives.Settings = field(default_factory=objectives.LikelihoodSettings)
    training: Settings = field(
        default_factory=lambda: Settings(lr=4e-3, weight_decay=0.1, epochs=10, clip=0.5)
    )
    tensorboard: bool = False

    def __post_init__(self) -> None:
        kind = self.objective.kind
        for name in ("alpha", "beta"):
            if getattr(self.model, name) and kind in ("scheduled", "mixer"):
                raise ConfigError(
                    f"model.{name} is for windows that are read at once, which those of {kind!r} are "
                    "not: set it to 0, or objective.kind to 'likelihood'"
                )


@dataclass(frozen=True)
class Seq2SeqRecipe:
    """A text for a text."""

    task: Literal["seq2seq"] = "seq2seq"
    data: seq2seq.Data = field(default_factory=seq2seq.Data)
    tokens: seq2seq.PairTokens = field(default_factory=seq2seq.PairTokens)
    model: seq2seq.Model = field(default_factory=seq2seq.Model)
    objective: objectives.Settings = field(default_factory=objectives.LikelihoodSettings)
    training: Settings = field(
        default_factory=lambda: Settings(lr=3e-3, epochs=20, patience=5, average=0.99)
    )
    tensorboard: bool = False

    def __post_init__(self) -> None:
        if self.model.coverage and self.objective.kind == "scheduled":
            raise ConfigError(
                "model.coverage is for tokens that are read at once, which 'scheduled' ones are not: "
                "set it to 0, or objective.kind to 'likelihood'"
            )


Recipe = ClassifierRecipe | LanguageModelRecipe | Seq2SeqRecipe | TaggerRecipe


def read(path: str | Path, overrides: Iterable[str] = ()) -> Recipe:
    """The recipe in a TOML file, with ``a.b=c`` overrides applied."""
    return cast(Recipe, config.read(cast(Any, Recipe), path, overrides))


def build(data: Mapping[str, object]) -> Recipe:
    """A recipe from plain data."""
    return cast(Recipe, config.build(cast(Any, Recipe), data))


def found(recipe: Recipe) -> Recipe:
    """The recipe with variables in its paths replaced by what they stand for."""
    files = {name: _expand(getattr(recipe.data, name)) for name in ("train", "valid", "test")}
    changed: dict[str, Any] = {
        "data": replace(recipe.data, **files),
        "model": replace(recipe.model, vectors=_expand(recipe.model.vectors)),
    }
    return replace(recipe, **changed)


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
