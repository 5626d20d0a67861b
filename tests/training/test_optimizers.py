from __future__ import annotations

from math import cos, isclose, pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import ConfigError
from elman.training.optimizers import (
    SHAPES,
    count_reductions,
    evaluations_since_best,
    learning_rate,
    should_average,
)
from elman.training.training_config import TrainingConfig

share = st.floats(0, 1)
part = st.floats(0, 0.99)
metric_history = st.lists(st.integers(0, 5).map(float), max_size=12)


@given(share, part)
def test_constant_rises_in_a_line_and_stays(progress: float, warmup: float) -> None:
    expected = progress / warmup if progress < warmup else 1
    assert SHAPES["constant"](progress, warmup) == SHAPES["plateau"](progress, warmup) == expected


@given(share, part)
def test_cosine_rises_in_a_line_and_falls_as_half_a_wave(progress: float, warmup: float) -> None:
    value = SHAPES["cosine"](progress, warmup)
    if progress < warmup:
        assert value == progress / warmup
    else:
        assert isclose(value, 0.5 + 0.5 * cos(pi * (progress - warmup) / (1 - warmup)))


@given(st.floats(0.1, 0.9), share, share)
def test_one_cycle_rises_to_one_at_warmup_and_falls_to_nothing(warmup: float, one: float, other: float) -> None:
    cycle = SHAPES["one_cycle"]
    assert isclose(cycle(0, warmup), 0.04)
    assert isclose(cycle(warmup, warmup), 1)
    assert isclose(cycle(1, warmup), 4e-6)
    assert isclose(cycle(warmup / 2, warmup), (0.04 + 1) / 2)
    assert isclose(cycle((1 + warmup) / 2, warmup), (1 + 4e-6) / 2)
    low, high = sorted((one, other))
    assert cycle(low * warmup, warmup) <= cycle(high * warmup, warmup) + 1e-12
    fall = [cycle(warmup + (1 - warmup) * p, warmup) for p in (low, high)]
    assert fall[1] <= fall[0] + 1e-12


@given(metric_history, st.integers(1, 4))
def test_plateau_lowers_the_rate_by_its_factor_each_time(values: list[float], wait: int) -> None:
    settings = TrainingConfig(schedule="plateau", lr=8.0, warmup=0, plateau_factor=0.5, plateau_patience=wait)
    count, best, since = 0, -1.0, 0
    for value in values:
        since += 1
        if value > best:
            best, since = value, 0
        if since >= wait:
            count, since = count + 1, 0
    assert count_reductions(values, wait) == count
    assert learning_rate(settings, 0.5, values) == 8.0 * 0.5**count


@given(metric_history)
def test_only_plateau_looks_at_the_evaluations(values: list[float]) -> None:
    for schedule in ("constant", "cosine", "one_cycle"):
        settings = TrainingConfig(schedule=schedule)
        assert learning_rate(settings, 0.3, values) == learning_rate(settings, 0.3, [])


@given(metric_history)
def test_waited_counts_the_evaluations_since_the_first_best(values: list[float]) -> None:
    later = 0
    while later < len(values) and max(values[: len(values) - later]) in values[: -1 - later]:
        later += 1
    assert evaluations_since_best(values) == later


@given(metric_history, st.integers(1, 4))
def test_the_trigger_is_a_value_worse_than_all_was_some_evaluations_ago(values: list[float], wait: int) -> None:
    # As in the authors' program: losses, the newest not yet among the logs.
    if not values:
        assert not should_average(values, wait)
        return
    *logs, newest = [-value for value in values]
    assert should_average(values, wait) == (len(logs) > wait and newest > min(logs[:-wait]))


@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.0},
        {"lr": float("nan")},
        {"lr": float("inf")},
        {"plateau_factor": 1.0},
        {"momentum": 1.0},
        {"warmup": -0.1},
        {"ema_decay": 1.0},
        {"grad_clip": -1.0},
        {"minutes": -1.0},
        {"weight_decay": -1.0},
        {"checkpoint_minutes": -1.0},
        {"updates": -1},
        {"patience": -1},
        {"evaluate_every": -1},
        {"seed": -1},
        {"epochs": 0},
        {"grad_accumulation": 0},
        {"ntasgd_window": 0},
        {"plateau_patience": 0},
    ],
)
def test_a_setting_out_of_range_is_named(options: dict[str, float]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(ConfigError, match=f"^{name} is {value}; it must be "):
        TrainingConfig(**options)


def test_ntasgd_brings_its_own_average() -> None:
    with pytest.raises(ConfigError, match=r"^ema_decay is 0.9; it must be 0 with ntasgd"):
        TrainingConfig(optimizer="ntasgd", ema_decay=0.9)
