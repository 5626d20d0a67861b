from __future__ import annotations

from math import cos, isclose, pi

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elman.errors import ConfigError, ModelError
from elman.training.optimizers import (
    SHAPES,
    count_copies,
    count_reductions,
    evaluations_since_best,
    keeps_average,
    learning_rate,
    make_optimizer,
    set_lr,
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


def net() -> nn.Module:
    made = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    made[1].weight.requires_grad_(False)
    return made


def test_weights_that_are_not_frozen_are_trained_and_matrices_alone_decay() -> None:
    config = TrainingConfig(lr=0.01, weight_decay=0.1, beta1=0.8, beta2=0.95)
    made = net()
    optimizer = make_optimizer(made, config)
    assert isinstance(optimizer, torch.optim.AdamW)
    matrices, others = optimizer.param_groups
    assert [p.shape for p in matrices["params"]] == [(2, 3)]
    assert [p.shape for p in others["params"]] == [(2,), (2,)]
    assert (matrices["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    assert all(group["lr"] == 0.01 and group["betas"] == (0.8, 0.95) for group in (matrices, others))
    set_lr(optimizer, 0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.5]
    with pytest.raises(ModelError, match="no parameter that is not frozen"):
        make_optimizer(made.requires_grad_(False), config)


def test_a_rate_that_a_recorded_update_reads_is_changed_in_its_place() -> None:
    rate = torch.tensor(0.1)
    optimizer = torch.optim.SGD([{"params": net().parameters(), "lr": rate}])
    set_lr(optimizer, 0.25)
    assert optimizer.param_groups[0]["lr"] is rate
    assert rate == 0.25


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_has_its_momentum_from_the_beginning(momentum: float) -> None:
    made = net()
    optimizer = make_optimizer(made, TrainingConfig(optimizer="sgd", momentum=momentum))
    assert isinstance(optimizer, torch.optim.SGD)
    assert all(group["momentum"] == momentum for group in optimizer.param_groups)
    buffers = [state["momentum_buffer"] for state in optimizer.state.values()]
    assert [b.shape for b in buffers] == [p.shape for p in made.parameters() if p.requires_grad] * bool(
        momentum
    )
    assert not any(b.any() for b in buffers)


@pytest.mark.parametrize(
    ("settings", "averages", "copies"),
    [
        ({}, False, 2),
        ({"ema_decay": 0.9}, True, 3),
        ({"optimizer": "sgd", "momentum": 0.9}, False, 1),
        ({"optimizer": "sgd", "momentum": 0.0, "ema_decay": 0.9}, True, 1),
        ({"optimizer": "sgd", "momentum": 0.0}, False, 0),
        ({"optimizer": "ntasgd", "momentum": 0.0}, True, 1),
    ],
)
def test_how_many_numbers_a_run_keeps_beside_each_weight(settings, averages, copies) -> None:
    config = TrainingConfig(**settings)
    assert (keeps_average(config), count_copies(config)) == (averages, copies)


def test_without_a_warmup_a_schedule_begins_at_its_rate() -> None:
    for schedule in SHAPES:
        assert learning_rate(TrainingConfig(schedule=schedule, lr=0.3, warmup=0.0), 0.0, []) == pytest.approx(
            0.3
        )
