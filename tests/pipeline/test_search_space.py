"""The table of what elman tune searches: every key exists, and the plain choice is always among the values."""

from itertools import pairwise

import pytest

from elman.pipeline.recipe import build
from elman.pipeline.search_space import (
    SEARCH_SPACE,
    Between,
    OneOf,
    Sizes,
    Times,
    find_space,
    make_distributions,
)
from elman.pipeline.tuning_plan import list_settings
from elman.tasks.registry import TASKS


def plain_space(task):
    plain = list_settings(build({"task": task}))
    return plain, find_space(plain, lambda key, value: True)


def test_every_setting_is_one_of_some_task():
    keys = [setting.key for setting in SEARCH_SPACE]
    assert len(keys) == len({*keys})
    assert {*keys} == {key for task in TASKS for key in plain_space(task)[1]}


def test_a_switch_is_searched_both_ways_and_no_choice_is_there_twice():
    choices = [setting.choices for setting in SEARCH_SPACE if isinstance(setting, OneOf)]
    assert all(len({*some}) == len(some) > 1 for some in choices)
    assert sum({*some} == {False, True} for some in choices if isinstance(some[0], bool)) == 3


def test_sizes_double_rates_are_searched_as_far_down_as_up_and_shares_from_nothing():
    for setting in SEARCH_SPACE:
        if isinstance(setting, OneOf):
            sizes = [size for size in setting.choices if isinstance(size, int) and size > 1]
            assert all(larger == 2 * size for size, larger in pairwise(sizes)), setting.key
        elif isinstance(setting, Times):
            assert setting.low * setting.high == 1
        elif isinstance(setting, Between):
            assert setting.low == 0
    (decays,) = [setting.choices for setting in SEARCH_SPACE if setting.key == "training.ema_decay"]
    assert [round(1 / (1 - decay)) for decay in decays] == [1, 100, 500]  # updates that are averaged, about


@pytest.mark.parametrize("task", TASKS)
def test_every_value_of_the_table_is_one_that_a_recipe_may_have(task):
    _, space = plain_space(task)
    assert {"training.lr", "model.hidden", "model.dropout"} <= space.keys()
    for key, values in space.items():
        for value in values.get("choices") or [values["low"], values["high"]]:
            section, name = key.split(".")
            assert list_settings(build({"task": task, section: {name: value}}))[key] == value


@pytest.mark.parametrize("task", TASKS)
def test_the_plain_choice_is_among_the_values(task):
    pytest.importorskip("optuna")
    plain, space = plain_space(task)
    for key, distribution in make_distributions(space).items():
        assert distribution._contains(distribution.to_internal_repr(plain[key])), key


def test_what_does_not_go_with_the_rest_is_left_out():
    plain, _ = plain_space("seq2seq")
    space = find_space(plain, lambda key, value: key != "training.lr" and value != "gru")
    assert not {"training.lr", "model.cell"} & space.keys()
    assert "model.hidden" in space


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
