"""Events in one line for people, numbers for trackers, and how fast a run is."""

import pytest
import torch

from elman.training.batches import BatchGroup, Progress
from elman.training.evaluation import Validation
from elman.training.event_lines import describe_end, describe_evaluation, describe_update
from elman.training.events import Checkpoint, Evaluation, TrainingEnd, Update
from elman.training.pace import Pace
from elman.training.snapshot import TrainState
from elman.training.tracking import event_numbers, updates_before
from elman.training.training_config import TrainingConfig
from elman.training.update import _describe_divergence, _progress

UPDATE = Update(1234, 1000, 0.5, 0.123456, 0.01, 3.0, 20.0)
SCORES = {"accuracy": 91.234, "examples": 20000}
EVALUATION = Evaluation(1234, SCORES, "accuracy", False)


def pace(speed=0.0, left=0.0):
    """A run of this speed, with so many seconds left."""
    seen = Pace()
    seen.recent.extend([(0.0, 1.0), (1.0, speed)])
    seen.left = left
    return seen


def test_an_update_is_a_line_with_what_is_known():
    line = "epoch 1,000  update 1,234  loss 0.1235"
    assert describe_update(UPDATE, pace(), "words") == line
    assert describe_update(UPDATE, pace(1234.6), "words") == f"{line}  1,235 words/s"
    assert (
        describe_update(UPDATE, pace(0.0, 200.0), "words", "accuracy 9.00")
        == f"{line}  accuracy 9.00  0:03:20 left"
    )
    assert describe_update(UPDATE, pace(0.0, 0.4), "words") == line  # less than half a second
    assert describe_update(UPDATE, pace(0.0, 0.6), "words") == f"{line}  0:00:01 left"


def test_an_evaluation_says_whether_it_is_the_best():
    line = "update 1,234  accuracy 91.23  examples 20,000"
    assert describe_evaluation(EVALUATION) == line
    assert describe_evaluation(Evaluation(1234, SCORES, "accuracy", True)) == f"{line}  (best)"


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("epochs", "all epochs done"),
        ("updates", "all updates done"),
        ("minutes", "the time is up"),
        ("patience", "early stopping"),
        ("failure", "the run failed"),
    ],
)
def test_an_end_says_why_and_what_was_best(reason, why):
    scores = {"accuracy": 90.0}
    line = f"{why} after update 1,234"
    assert describe_end(TrainingEnd(1234, reason, {})) == line
    assert describe_end(TrainingEnd(1234, reason, scores, best_update=7)) == f"{line}; best: accuracy 90.00"
    before = describe_end(TrainingEnd(1234, reason, scores, best_update=0))
    assert before == f"{line}; nothing is better than the model it began with: accuracy 90.00"


def test_trackers_get_numbers_of_updates_and_evaluations():
    assert event_numbers(UPDATE) == {"training/loss": 0.123456, "training/lr": 0.01, "training/norm": 3.0}
    assert event_numbers(EVALUATION) == {"validation/accuracy": 91.234, "validation/examples": 20000}
    checkpoint, end = Checkpoint(7, True, lambda: None), TrainingEnd(7, "epochs", {})
    assert event_numbers(checkpoint) == event_numbers(end) == {}
    assert [updates_before(e) for e in (UPDATE, EVALUATION, checkpoint, end)] == [1233, 1234, 7, 7]


def test_the_speed_is_the_weight_between_the_first_and_the_last_update():
    now = [0.0]
    seen = Pace(lambda: now[0])

    def update(time, progress, weight=10.0):
        now[0] = time
        seen.see(Update(1, 1, progress, 0.0, 0.0, 0.0, weight))

    update(100.0, 0.2, 1000.0)
    assert (seen.speed, seen.left) == (0.0, 0.0)
    update(102.0, 0.4)
    assert seen.speed == 5.0  # what the first one weighs was done before
    assert seen.left == pytest.approx(6.0)  # a fifth in two seconds, three fifths are left
    update(104.0, 0.4, 30.0)
    assert seen.speed == 10.0
    seen.see(EVALUATION)
    assert seen.speed == 0.0
    assert seen.left == pytest.approx(12.0)
    update(104.0, 0.5)
    update(104.0, 0.5)  # no time has passed
    assert seen.speed == 0.0
    update(110.0, 1.0)
    assert seen.left == 0.0
    for number in range(200):
        update(110.0 + number, 1.0, 1.0 if number < 150 else 3.0)
    assert seen.speed == pytest.approx((49 + 50 * 3) / 99)  # of the last hundred


def group(count=1, start=4):
    return BatchGroup(tuple(range(count)), 7, 2, start, False, 0.25)


def test_a_place_is_counted_from_one():
    assert group().place == "update 7 (epoch 3, batch 5)"
    assert group(3).place == "update 7 (epoch 3, batches 5 to 7)"


def test_a_loss_that_is_no_number_says_what_to_change():
    inf, nan = float("inf"), float("nan")
    config = TrainingConfig(lr=0.001, grad_clip=5.0)
    place = "at update 7 (epoch 3, batch 5); try a lower lr (now 0.001) or grad_clip"
    assert _describe_divergence(config, group(), nan, nan) == f"the loss is nan {place} (now 5)"
    assert _describe_divergence(config, group(), 1.0, inf) == f"the gradient's norm is inf {place} (now 5)"
    off = TrainingConfig(lr=0.001, grad_clip=0.0)
    assert _describe_divergence(off, group(), inf, 1.0) == f"the loss is inf {place} (now off)"


def test_progress_is_that_of_updates_or_of_minutes_whichever_is_further():
    def progress(seconds, minutes):
        net = torch.nn.Linear(1, 1)
        optimizer, scaler = torch.optim.SGD(net.parameters()), torch.amp.GradScaler("cpu", enabled=False)
        training = TrainState(net, optimizer, scaler, None, {}, Progress(seconds=seconds))
        return _progress(group(), TrainingConfig(minutes=minutes), training)

    assert progress(1000.0, 0.0) == 0.25
    assert progress(6.0, 1.0) == 0.25
    assert progress(30.0, 1.0) == 0.5
    assert progress(90.0, 1.0) == 1.0


def test_merit_is_higher_for_what_is_better_and_least_for_no_number():
    def merit(best, value):
        return Validation(dict, "x", best).merit({"x": value, "y": 1.0})

    assert (merit("max", 3.0), merit("min", 3.0)) == (3.0, -3.0)
    assert merit("max", float("nan")) == merit("min", float("nan")) == -float("inf")
