"""Runs that the minutes end: how long they are, when they are evaluated, where the learning rate comes to."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
from torch import Tensor
from toy import Net, Problem, of

from elman.errors import ConfigError
from elman.training.batches import BatchGroup, Progress, is_evaluation_due, stop_reason
from elman.training.evaluation import Validation
from elman.training.events import Evaluation, TrainingEnd, Update
from elman.training.training_config import TrainingConfig

GROUP = BatchGroup(([0],), update=3, epoch=0, start=2, last=True, progress=0.0)


class TimedProblem(Problem):
    """An update takes a second of a clock that is set here, an evaluation as many as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, evaluation: float = 0.0) -> None:
        super().__init__(Net())
        self.now, self.evaluation = 100.0, evaluation
        self.validation = Validation(self.scores, "error", "min")
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("elman.training.training_loop.time", clock)

    def loss(self, batch, progress: float) -> Tensor:
        self.now += 1.0
        return super().loss(batch, progress)

    def scores(self) -> dict[str, float]:
        self.now += self.evaluation
        return super().scores()


def test_without_epochs_the_minutes_alone_end_a_run(monkeypatch):
    problem = TimedProblem(monkeypatch)
    monkeypatch.setattr(problem.batches, "count", None)  # nobody asks how long an epoch is
    happened = list(problem.fit(TrainingConfig(epochs=0, minutes=1.0)))
    assert isinstance(end := happened[-1], TrainingEnd)
    assert (end.reason, end.number) == ("minutes", 60)
    assert of(Update, happened)[-1].epoch == 10  # of six batches each


def test_the_schedule_comes_to_its_end_with_the_minutes(monkeypatch):
    config = TrainingConfig(epochs=0, minutes=1.0, lr=1.0, warmup=0.25, schedule="cosine")
    rates = [event.lr for event in of(Update, list(TimedProblem(monkeypatch).fit(config)))]
    assert rates[0] == 0.0
    assert max(rates) == rates[15] == 1.0  # a quarter of the minute
    assert rates[16:] == sorted(rates[16:], reverse=True)
    assert rates[-1] < 0.01


def test_the_evaluations_count_as_time_of_the_run(monkeypatch):
    happened = list(TimedProblem(monkeypatch, evaluation=4.0).fit(TrainingConfig(epochs=0, minutes=1.0)))
    assert happened[-1].number == 37  # six epochs, each with an evaluation; the clock is read after an update


def test_evaluations_take_no_more_than_their_share(monkeypatch):
    config = TrainingConfig(epochs=0, minutes=10.0, evaluation_share=0.1)
    happened = list(TimedProblem(monkeypatch, evaluation=3.0).fit(config))
    places = [event.number for event in of(Evaluation, happened)]
    assert len(places) > 10
    gaps = [after - before for before, after in pairwise(places[:-1])]
    assert min(gaps) >= 30  # seconds, for three of evaluation
    assert places[0] == 15  # the first, whose cost nobody knows, after a fortieth of the run


def test_quick_evaluations_are_forty_at_most(monkeypatch):
    config = TrainingConfig(epochs=0, minutes=10.0, evaluation_share=0.5)
    happened = list(TimedProblem(monkeypatch).fit(config))
    places = [event.number for event in of(Evaluation, happened)]
    assert places == [15 * i for i in range(1, 41)]


@pytest.mark.parametrize(
    ("seconds", "evaluated_at", "took", "due"),
    [(14.9, 0.0, 0.0, False), (15.0, 0.0, 0.0, True), (44.0, 15.0, 3.0, False), (45.0, 15.0, 3.0, True)],
)
def test_an_evaluation_is_due_by_the_time_since_the_last_one(seconds, evaluated_at, took, due):
    config = TrainingConfig(epochs=0, minutes=10.0, evaluation_share=0.1)
    progress = Progress(seconds=seconds, evaluated_at=evaluated_at, evaluation_seconds=took)
    assert is_evaluation_due(config, progress, GROUP) is due


def test_without_a_share_an_epoch_ends_with_an_evaluation():
    assert is_evaluation_due(TrainingConfig(epochs=0, minutes=10.0), Progress(), GROUP)


def test_updates_end_a_run_without_epochs_too():
    config = TrainingConfig(epochs=0, updates=3)
    assert [stop_reason(config, Progress(update=n, epoch=99)) for n in (2, 3)] == [None, "updates"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs is 0; it must be at least 1 where neither updates nor minutes end the run"),
        ({"evaluation_share": 0.1}, "evaluation_share is 0.1; it must be 0 without minutes"),
        (
            {"evaluation_share": 0.1, "minutes": 1.0, "evaluate_every": 5},
            "evaluation_share is 0.1; it must be 0 without minutes, and where evaluate_every says when",
        ),
    ],
)
def test_a_run_without_an_end_and_a_share_of_no_time_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**options)
