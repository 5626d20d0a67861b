from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from torch import nn
from toy import Net, Problem, same

from elman.errors import ModelError
from elman.training.checkpoint import load_checkpoint, save_checkpoint
from elman.training.evaluation import Validation
from elman.training.events import Checkpoint, Event
from elman.training.snapshot import Snapshot
from elman.training.training_config import TrainingConfig

RUNS = {
    "as it comes": {},
    "sgd": {"optimizer": "sgd", "lr": 0.1, "schedule": "one_cycle", "warmup": 0.3},
    "no momentum": {"optimizer": "sgd", "lr": 0.1, "momentum": 0.0},
    "accumulated": {"grad_accumulation": 4},
    "in updates": {"updates": 14, "grad_accumulation": 2, "evaluate_every": 5},
    "ema": {"ema_decay": 0.7, "lr": 0.05},
    "ntasgd": {"optimizer": "ntasgd", "lr": 0.5, "ntasgd_window": 1, "evaluate_every": 2},
    "plateau_patience": {"schedule": "plateau", "lr": 0.3, "plateau_factor": 0.3, "evaluate_every": 3},
    "patience": {"patience": 2, "lr": 0.5, "schedule": "constant", "evaluate_every": 2},
}


def judged(problem: Problem) -> Validation:
    """An evaluation that itself draws random numbers."""

    def scores() -> dict[str, float]:
        noise = nn.functional.dropout(problem.x, 0.3)
        return {"error": nn.functional.mse_loss(problem.net(noise), problem.y).item()}

    return Validation(scores, "error", "min")


def followed(problem: Problem, settings: TrainingConfig, resume: Snapshot | None) -> list[Event]:
    """What happened, apart from checkpoints, whose snapshots are like no other."""
    events = problem.fit(settings, validation=judged(problem), resume=resume)
    return [event for event in events if not isinstance(event, Checkpoint)]


def stopped(settings: TrainingConfig, after: int, path: Path) -> Snapshot:
    """A run that is left after some updates, by way of a file."""
    problem = Problem(Net())
    for event in problem.fit(settings, validation=judged(problem)):
        if isinstance(event, Checkpoint) and event.number == after:
            save_checkpoint(path, event.snapshot(), {})
            break
    return load_checkpoint(path, {})


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS)
def test_a_resumed_run_ends_as_if_never_stopped(options: dict[str, object], tmp_path: Path) -> None:
    """After every update, in mid-epoch and between evaluations."""
    settings = TrainingConfig(epochs=3, **options)
    whole = Problem(Net())
    happened = followed(whole, settings, None)
    for after in range(1, happened[-1].number + 1):
        torch.manual_seed(after)
        snapshot = stopped(settings, after, tmp_path / "checkpoint")
        resumed = Problem(Net())
        rest = followed(resumed, settings, snapshot)
        assert same(resumed.net, whole.net)
        assert rest == happened[-len(rest) :]
        assert rest[0].number > after or len(rest) == 1


def test_stops_may_follow_each_other(tmp_path: Path) -> None:
    settings = TrainingConfig(epochs=3, ema_decay=0.9)
    whole, snapshot = Problem(Net()), None
    list(whole.fit(settings))
    for until in (2, 3, 6, 11, 99):
        problem = Problem(Net())
        for event in problem.fit(settings, resume=snapshot):
            if isinstance(event, Checkpoint) and event.number == until:
                snapshot = event.snapshot()
                break
    assert same(problem.net, whole.net)


def test_a_snapshot_stays_as_it_was_taken() -> None:
    problem = Problem(Net())
    snapshots, texts = [], []
    for event in problem.fit(TrainingConfig(epochs=2, ema_decay=0.9)):
        if isinstance(event, Checkpoint):
            snapshots.append(event.snapshot())
            texts.append(repr(snapshots[-1]))
    list(Problem(Net()).fit(TrainingConfig(epochs=2, ema_decay=0.9), resume=snapshots[3]))
    assert [repr(snapshot) for snapshot in snapshots] == texts


def test_the_batches_before_are_not_made_again(tmp_path: Path) -> None:
    settings = TrainingConfig(epochs=3)
    snapshot = stopped(settings, 8, tmp_path / "checkpoint")
    problem, asked = Problem(Net()), []
    original = problem.batches

    class Asked(type(original)):
        def __call__(self, epoch, start):
            asked.append((epoch, start))
            return original(epoch, start)

    problem.batches = Asked(problem.plan)
    list(problem.fit(settings, resume=snapshot))
    assert asked == [(1, 2), (2, 0)]


def test_a_snapshot_of_another_net_is_refused(tmp_path: Path) -> None:
    snapshot = stopped(TrainingConfig(), 3, tmp_path / "checkpoint")
    match = r"'carried' has shape \(6,\) there and has shape \(7,\) here"
    with pytest.raises(ModelError, match=match):
        next(Problem(Net(7)).fit(TrainingConfig(), resume=snapshot))
    net = Net()
    net.extra = nn.Parameter(torch.zeros(2))
    with pytest.raises(ModelError, match=r"'extra' is missing there and has shape \(2,\) here"):
        next(Problem(net).fit(TrainingConfig(), resume=snapshot))


def test_the_time_of_all_attempts_counts(tmp_path: Path) -> None:
    settings = TrainingConfig(epochs=10**6, minutes=0.3 / 60)
    snapshot = stopped(settings, 5, tmp_path / "checkpoint")
    snapshot.state["progress"]["seconds"] = 100.0
    (end,) = followed(Problem(Net()), settings, snapshot)
    assert end.reason == "minutes"


@hypothesis_settings(max_examples=10)
@given(st.integers(1, 17), st.integers(1, 5), st.integers(0, 4))
def test_any_stop_of_any_grouping_is_none(after: int, accumulate: int, every: int) -> None:
    settings = TrainingConfig(epochs=3, grad_accumulation=accumulate, evaluate_every=every)
    whole, snapshot = Problem(Net()), None
    for event in whole.fit(settings):
        if isinstance(event, Checkpoint) and event.number == after:
            snapshot = event.snapshot()
    resumed = Problem(Net())
    list(resumed.fit(settings, resume=snapshot))
    assert same(resumed.net, whole.net)
