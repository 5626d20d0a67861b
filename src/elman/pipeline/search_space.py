"""Where `elman tune` looks for better settings, around what the plain command chooses: one table for all tasks.

A setting is searched where a task has it. Those that a user gives are not, nor those that do not go with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from elman.text.optional_packages import import_optional


class Times(NamedTuple):
    """From a part of the plain choice to a multiple of it, on a logarithmic scale."""

    key: str
    low: float
    high: float
    beside: str = ""

    def values(self, plain: Any) -> dict[str, Any]:
        return {"low": plain * self.low, "high": plain * self.high, "log": True}


class Sizes(NamedTuple):
    """Whole numbers from half the plain choice to twice it, in steps of an eighth of it."""

    key: str
    beside: str = ""

    def values(self, plain: Any) -> dict[str, Any]:
        step = max(1, plain // 8)
        return {"low": max(1, plain - 4 * step), "high": plain + 8 * step, "step": step}


class Between(NamedTuple):
    """Numbers of a range, which is made wider where the plain choice is outside."""

    key: str
    low: float
    high: float
    beside: str = ""

    def values(self, plain: Any) -> dict[str, Any]:
        return {"low": float(min(self.low, plain)), "high": float(max(self.high, plain))}


class OneOf(NamedTuple):
    """Choices, and the plain one; ``beside`` is another key that a task must have, too."""

    key: str
    choices: tuple[Any, ...]
    beside: str = ""

    def values(self, plain: Any) -> dict[str, Any]:
        return {"choices": [*dict.fromkeys((*self.choices, plain))]}


Setting = Times | Sizes | Between | OneOf

SEARCH_SPACE: tuple[Setting, ...] = (
    Times("training.lr", 1 / 4, 4),
    Sizes("training.epochs"),  # where they end a training, not the minutes
    OneOf("training.ema_decay", (0.0, 0.99, 0.998)),
    OneOf("data.batch_tokens", (256, 512, 1024, 2048)),
    OneOf("model.cell", ("lstm", "gru")),
    Sizes("model.hidden"),
    OneOf("model.layers", (1, 2)),
    Sizes("model.embedding"),
    Between("model.dropout", 0.0, 0.7),
    Between("model.word_dropout", 0.0, 0.3),
    Between("model.label_smoothing", 0.0, 0.2),
    # how words are read
    OneOf("model.characters", ("", "cnn")),
    OneOf("model.casing", (False, True)),
    OneOf("model.affixes", (0, 3), beside="model.scheme"),  # of a tagger
    # labels of texts; in a language model, lower would change what is predicted
    OneOf("tokens.lower", (False, True), beside="model.pool"),
    OneOf("model.pool", ("max", "mean+max", "attention")),
    OneOf("model.ngrams", (False, True), beside="model.pool"),
    OneOf("model.attention", ("none", "soft"), beside="model.pool"),
    # running text
    OneOf("data.streams", (8, 16, 32, 64)),
    OneOf("data.bptt", (35, 70, 140)),
    Between("model.weight_drop", 0.0, 0.5),
)


def find_space(plain: Mapping[str, Any], fits: Callable[[str, Any], bool]) -> dict[str, dict[str, Any]]:
    """The values to search for each key, as Optuna's distributions name them.

    ``plain`` has what the plain command chooses for each key. ``fits`` says whether a value goes with the rest.
    """
    space = {}
    for setting in SEARCH_SPACE:
        if setting.key not in plain or (setting.beside and setting.beside not in plain):
            continue
        if isinstance(setting, Sizes) and not plain[setting.key]:  # there is none: the minutes end a training
            continue
        values = setting.values(plain[setting.key])
        if choices := values.get("choices"):
            values = {"choices": [value for value in choices if fits(setting.key, value)]}
            usable = len(values["choices"]) > 1
        else:
            usable = all(fits(setting.key, values[end]) for end in ("low", "high"))
        if usable:
            space[setting.key] = values
    return space


def make_distributions(space: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A space as Optuna wants it."""
    kinds = import_optional("optuna.distributions", "tune", "to search for settings")
    made = {}
    for key, values in space.items():
        if "choices" in values:
            made[key] = kinds.CategoricalDistribution(values["choices"])
        else:
            whole = isinstance(values["low"], int)
            made[key] = (kinds.IntDistribution if whole else kinds.FloatDistribution)(**values)
    return made
