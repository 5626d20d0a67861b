"""Whatever an option is set to, a recipe, a network and a loss come of it, or a refusal of one line."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from functools import cache, reduce
from random import Random
from typing import Any, get_args, get_type_hints

import click
import torch

from elman.cli.app import elman as command
from elman.config import apply_override, build_config, to_plain
from elman.errors import ConfigError
from elman.pipeline.recipe import Recipe, build, recipe_class
from elman.ranges import find_number
from elman.tasks.building_limit import BuildingLimit
from elman.tasks.registry import TASKS
from elman.text.tables import InMemory
from tests.campaign.harness import Target, main
from tests.test_ranges import OPTIONS, config_classes, every_option

NUMBERS = ("nan", "inf", "-inf", "0", "-0.0", "1", "-1", "2", "0.5", "1.5", "1e-40", "1e-320", "1e39", "1e300")
NUMBERS += ("10", "1000", "1e3", str(2**31), str(2**63 - 1), str(2**63), str(2**64), "1" + "0" * 30, "9" * 5000)
OTHERS = ("true", "none", "''", "[]", "[0]", "[1, -1]", "{}", "{kind = 'risk'}", "lstm", "\x00", "é", "1_0")
ROWS: dict[str, list[Any]] = {
    "classifier": [("a good text", "yes"), ("b bad", "no")] * 3,
    "pairs": [("a good", "text", "yes"), ("b", "bad one", "no")] * 3,
    "tagger": [(("a", "dog"), ("DET", "NOUN")), (("it", "ran"), ("PRON", "VERB"))] * 3,
    "lm": ["once upon a time", "the dog saw ann"] * 3,
    "seq2seq": [("a b c", "c b a"), ("d e", "e d")] * 3,
}


@cache
def keys(task: str) -> list[str]:
    """Every key of a recipe, those of each objective among them."""

    def walk(kind: Any, path: str) -> list[str]:
        if isinstance(kind, type) and is_dataclass(kind):
            hints = get_type_hints(kind)
            return [key for f in fields(kind) if f.init for key in walk(hints[f.name], f"{path}.{f.name}")]
        inner = [option for option in get_args(kind) if is_dataclass(option)]
        return [path, *(key for option in inner for key in walk(option, path))]

    return [key.removeprefix(".") for key in dict.fromkeys(walk(recipe_class(task), ""))]


def value(rng: Random) -> str:
    if rng.random() < 0.7:
        return rng.choice(NUMBERS)
    return rng.choice(OTHERS) if rng.random() < 0.7 else repr(rng.uniform(-2, 3))


def check_numbers(config: Any) -> None:
    """The law: what was taken is finite and in its range."""
    for name, kind in get_type_hints(type(config), include_extras=True).items():
        item, number = getattr(config, name), find_number(kind)
        for one in item if isinstance(item, tuple) else (item,):
            if is_dataclass(one):
                check_numbers(one)
            elif number and one is not None:
                assert one in number.range, (name, one)
                assert math.isfinite(one) or number.range.high == math.inf, (name, one)


def recipes(rng: Random) -> None:
    """Some keys of a recipe, set as by ``--set``."""
    task = rng.choice([*TASKS])
    sets = [f"{rng.choice(keys(task))}={value(rng)}" for _ in range(rng.randint(1, 3))]
    recipe = build(reduce(apply_override, sets, {"task": task}))
    check_numbers(recipe)
    assert build(to_plain(recipe)) == recipe


@cache
def examples(task: str) -> tuple[Any, Any, Any]:
    """A recipe's data, what is read of it, and small sizes for its network."""
    recipe = build({"task": task})
    data = replace(recipe.data, train=InMemory.hold(ROWS[task]), holdout=0.0)
    small = dict.fromkeys(("hidden", "embedding", "character_size", "character_hidden", "mlp", "tag_size"), 6)
    known = {f.name for f in fields(recipe.model)}
    return data, recipe.task_class.split(data)[0], {k: v for k, v in small.items() if k in known}


class LargeNetwork(Exception):
    """A network that would take too long to try."""


def refuse_large(tensors: int, elements: int) -> None:
    if tensors > 200 or elements > 50_000:
        raise LargeNetwork


def networks(rng: Random) -> None:
    """A network of any options that say how large it is; where it is small, the loss of a batch is finite."""
    task = rng.choice([*TASKS])
    data, some, small = examples(task)
    own = [key for key in keys(task) if key.startswith("model.") and key != "model.vectors"]
    sets = [f"{rng.choice(own)}={value(rng)}" for _ in range(rng.randint(1, 3))]
    recipe: Recipe = build(reduce(apply_override, sets, {"task": task, "model": small}))
    check_numbers(recipe.model)
    torch.set_num_threads(1)  # a command line may have said otherwise
    torch.manual_seed(0)
    try:
        with BuildingLimit(refuse_large):
            model = recipe.task_class.from_examples(recipe.model, recipe.tokens, some)
    except LargeNetwork:
        return
    dataset = model.encode(some)
    model.fit_statistics(dataset)
    batch = next(iter(model.build_batches(dataset, data, 0)(0, 0)))
    loss = model.training_loss
    found = loss(batch, 0.5, loss.begin(batch))[0] if hasattr(loss, "begin") else loss(batch, 0.5)
    assert math.isfinite(float(found)), (sets, float(found))


def stored_options(rng: Random) -> None:
    """The options of verbs, built from plain data as a stranger's JSON would have it."""
    cls = rng.choice([c for root in OPTIONS for c in config_classes(root) if c.__name__ != "Sample"])
    names = [f.name for f in fields(cls)]
    plain = {rng.choice(names): rng.choice([math.nan, math.inf, 0, 1, -1, 10**30, 2**63, 0.5, "1", None, True])}
    check_numbers(build_config(cls, plain))


@cache
def numeric_options() -> list[tuple[list[str], str]]:
    found = [(path.split()[1:-1], option) for path, option in every_option(command)]
    return [(verb, o.opts[0]) for verb, o in found if hasattr(o.type, "number")]


def command_lines(rng: Random) -> None:
    """Numbers of the command line; what is no number at all is a usage error, as click says it."""
    verb, option = rng.choice(numeric_options())
    needed = ["--train", "no-such-file", "--out", "o"] if verb[0] == "train" else ["no-such-model"]
    if verb in (["demo"], ["compare"]):
        needed = ["--no-such-option"]  # what follows would take its time
    try:
        command([*verb, *needed, f"{option}={value(rng)}"], standalone_mode=False)
    except click.ClickException as error:
        raise ConfigError(error.format_message().splitlines()[0]) from None


TARGETS: dict[str, Target] = {
    "recipes": recipes,
    "networks": networks,
    "stored_options": stored_options,
    "command_lines": command_lines,
}

if __name__ == "__main__":
    main(TARGETS)
