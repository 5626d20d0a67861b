"""The tables of what elman tune searches: every key exists, and the plain choice is always among the values."""

import pytest

from elman.pipeline.choose_defaults import apply_settings
from elman.pipeline.recipe import build
from elman.pipeline.search_space import SEARCH_SPACE, Between, OneOf, Sizes, Times, make_distributions
from elman.tasks.registry import TASKS


def find(recipe, key):
    for name in key.split("."):
        recipe = getattr(recipe, name)
    return recipe


def test_every_task_has_a_table():
    assert SEARCH_SPACE.keys() == TASKS.keys()


@pytest.mark.parametrize("task", TASKS)
def test_every_value_of_a_table_is_one_that_a_recipe_may_have(task):
    recipe = build({"task": task})
    keys = [setting.key for setting in SEARCH_SPACE[task]]
    assert len(keys) == len({*keys})
    for setting in SEARCH_SPACE[task]:
        values = setting.values(find(recipe, setting.key))
        for value in values.get("choices") or [values["low"], values["high"]]:
            assert find(apply_settings(recipe, (), {setting.key: value}), setting.key) == value


@pytest.mark.parametrize("task", TASKS)
def test_the_plain_choice_is_among_the_values(task):
    pytest.importorskip("optuna")
    recipe = build({"task": task})
    plain = {setting.key: find(recipe, setting.key) for setting in SEARCH_SPACE[task]}
    space = make_distributions({s.key: s.values(plain[s.key]) for s in SEARCH_SPACE[task]})
    for key, distribution in space.items():
        assert distribution._contains(distribution.to_internal_repr(plain[key])), key


@pytest.mark.parametrize("size", [1, 2, 7, 8, 100, 128, 650])
def test_sizes_are_steps_from_half_to_twice_the_plain_one(size):
    values = Sizes("model.hidden").values(size)
    grid = range(values["low"], values["high"] + 1, values["step"])
    assert size in grid
    assert values["low"] >= max(1, size // 2 - 3)
    assert values["high"] >= 1.9 * size


def test_ranges_and_choices_grow_to_hold_the_plain_one():
    assert Between("k", 0.1, 0.2).values(0.5) == {"low": 0.1, "high": 0.5}
    assert OneOf("k", (1, 2)).values(0)["choices"] == [1, 2, 0]
    assert Times("k", 0.5, 2).values(0.1) == {"low": 0.05, "high": 0.2, "log": True}
