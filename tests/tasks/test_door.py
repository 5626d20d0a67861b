"""A task is a room with one door: all are asked the same, and a further task is one line in a table."""

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from click.testing import CliRunner

from elman import artifact
from elman.cli.app import elman
from elman.config import to_plain
from elman.pipeline import train
from elman.pipeline.recipe import build, recipe_class
from elman.tasks.classifier.task import Classifier
from elman.tasks.registry import TASKS

LINES = "".join(f"{word} {i}\t{word.upper()}\n" for i in range(20) for word in ("left", "right"))


def keys(config: Any, prefix: str = "") -> set[str]:
    found = set()
    for f in fields(config):
        value = getattr(config, f.name)
        inner = keys(value, f"{prefix}{f.name}.") if is_dataclass(value) else {prefix + f.name}
        found |= inner
    return found


@pytest.mark.parametrize("name", TASKS)
def test_flags_of_a_task_are_keys_of_its_recipes(name: str) -> None:
    assert {flag.key for flag in TASKS[name].flags.values()} <= keys(recipe_class(name)())


@pytest.mark.parametrize("name", TASKS)
def test_a_recipe_that_says_nothing_is_that_of_the_task(name: str) -> None:
    recipe = build({"task": name})
    given = TASKS[name].load().defaults
    assert (recipe.data, recipe.tokens, recipe.model) == (given.data, given.tokens, given.model)
    assert build(to_plain(recipe)) == recipe
    assert recipe.task_class.spec is TASKS[name]


@pytest.mark.parametrize("name", TASKS)
def test_options_that_may_change_are_options(name: str) -> None:
    model = recipe_class(name)().model
    known = {f.name for f in fields(model)}
    assert model.changeable <= known
    assert {n for n in known if "dropout" in n} <= model.changeable


@pytest.mark.parametrize("name", TASKS)
def test_a_package_offers_what_its_task_does(name: str) -> None:
    from importlib import import_module

    home = TASKS[name].home.split(":")[0]
    package, module = import_module(home.rpartition(".")[0]), import_module(home)
    assert all(getattr(package, public) is getattr(module, public) for public in module.__all__)
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        _ = package.nothing


class Sides(Classifier):
    """A fifth task, made of another one."""

    spec = replace(Classifier.spec, name="sides", home=f"{__name__}:Sides", title="a side finder")


@pytest.fixture
def sides(monkeypatch, tmp_path):
    monkeypatch.setitem(TASKS, "sides", Sides.spec)
    (tmp_path / "a.tsv").write_text(LINES)
    data = {"train": str(tmp_path / "a.tsv"), "batch_tokens": 32}
    model = {"hidden": 8, "embedding": 6}
    train({"task": "sides", "data": data, "model": model, "training": {"epochs": 3}}, tmp_path / "m")
    return tmp_path


def test_a_further_task_is_trained_loaded_scored_asked_and_looked_at(sides) -> None:
    assert isinstance(artifact.load(sides / "m"), Sides)
    assert "elman predict" in (sides / "m" / "README.md").read_text()

    def run(*words: str, given: str = "") -> str:
        done = CliRunner().invoke(elman, [*words], input=given, catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    folder = str(sides / "m")
    assert json.loads(run("evaluate", folder, str(sides / "a.tsv"), "--json"))["examples"] == 40
    assert run("predict", folder, given="left 3\n").strip() in ("LEFT", "RIGHT")
    assert "saliency" in run("inspect", folder, "--text", "left 3")
    done = CliRunner().invoke(elman, ["generate", folder])
    assert "a side finder: elman predict uses it" in str(done.output) + str(done.exception)
