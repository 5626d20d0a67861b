"""A recipe written as a file is the same recipe when it is read."""

import tomllib

import pytest

from elman.errors import ConfigError
from elman.pipeline.recipe import build, read
from elman.pipeline.recipe_file import format_recipe
from elman.tasks.registry import TASKS

CHANGED = {
    "classifier": {
        "model": {"hidden": 7, "pool": "attention"},
        "tokens": {"lower": True},
        "data": {"labels": {"0": "a b", "ü 1": "c"}},
    },
    "tagger": {"data": {"column": "upos"}, "model": {"casing": True}},
    "pairs": {"training": {"lr": 1e-05, "minutes": 0.1}},
    "lm": {"model": {"input_dropout": 0.25, "layers": 3}, "data": {"train": 'a "b" \x7f\t界.txt'}},
    "seq2seq": {
        "data": {"train": ["a.en", "a.de"]},
        "tokens": {"source": {"kind": "chars"}},
        "model": {"layers": 1},
        "objective": {"kind": "risk", "samples": 3},
    },
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("changed", [False, True])
def test_a_recipe_written_and_read_is_the_same(task, changed, tmp_path):
    recipe = build({"task": task} | (CHANGED[task] if changed else {}))
    (tmp_path / "r.toml").write_text(format_recipe(recipe, "found by\na search"), encoding="utf-8")
    assert read(tmp_path / "r.toml") == recipe


def test_what_is_the_default_is_left_out():
    text = format_recipe(build({"task": "lm", "model": {"hidden": 3}}))
    assert tomllib.loads(text) == {"task": "lm", "model": {"hidden": 3}}


def test_a_cell_of_the_user_is_named_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("from elman.cells import GRU\n\n\nclass Mine(GRU):\n    pass\n")
    recipe = build({"task": "lm", "model": {"cell": "mine.py:Mine"}})
    assert tomllib.loads(format_recipe(recipe))["model"] == {"cell": "mine.py:Mine"}


@pytest.mark.parametrize("task", ["poet", 3, None])
def test_a_task_that_is_none_is_refused_with_those_that_there_are(task):
    with pytest.raises(ConfigError, match="task is (.*); it may be " + ".*".join(map(repr, TASKS))):
        build({"task": task})
