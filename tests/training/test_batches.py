from __future__ import annotations

from itertools import chain, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import Lists

from elman.errors import DataError
from elman.training.batches import Progress, group_batches, stop_reason
from elman.training.training_config import TrainingConfig

sizes = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def numbered(sizes: list[int]) -> Lists[tuple[int, int]]:
    """Epochs of these numbers of batches, over and over; a batch is a single (epoch, batch)."""
    return Lists(lambda epoch: [[(epoch, i)] for i in range(sizes[epoch % len(sizes)])])


@given(sizes, st.integers(1, 4), st.integers(1, 12))
def test_groups_go_through_every_epoch_in_order(sizes: list[int], k: int, count: int) -> None:
    settings = TrainingConfig(grad_accumulation=k, epochs=50)
    seen = list(islice(group_batches(numbered(sizes), settings, Progress()), count))
    assert [group.update for group in seen] == list(range(1, count + 1))
    flat = [batch[0] for group in seen for batch in group.batches]
    assert flat == sorted(flat)
    assert all(len(group.batches) == k or group.last for group in seen)
    for group in seen:
        assert group.batches[0][0] == (group.epoch, group.start)
        assert group.last == (group.start + len(group.batches) == sizes[group.epoch % len(sizes)])
    shares = [group.progress for group in seen]
    assert shares == sorted(shares)
    assert shares[0] > 0
    assert shares[-1] < 1


@given(sizes, st.integers(1, 4), st.integers(0, 12), st.sampled_from([0, 40]))
def test_groups_go_on_from_any_position(sizes: list[int], k: int, done: int, updates: int) -> None:
    settings = TrainingConfig(grad_accumulation=k, epochs=50, updates=updates)
    whole = list(islice(group_batches(numbered(sizes), settings, Progress()), done + 6))
    position = Progress()
    if done:
        last = whole[done - 1]
        batch = last.start + len(last.batches)
        position = Progress(done, last.epoch + last.last, 0 if last.last else batch)
    assert list(islice(group_batches(numbered(sizes), settings, position), 6)) == whole[done:]


def test_progress_is_measured_in_updates_where_the_run_is() -> None:
    settings = TrainingConfig(updates=4)
    seen = islice(group_batches(numbered([3]), settings, Progress()), 4)
    assert [group.progress for group in seen] == [0.125, 0.375, 0.625, 0.875]


def test_progress_of_a_run_of_epochs_is_that_of_the_middle_of_its_updates() -> None:
    settings = TrainingConfig(epochs=2, grad_accumulation=3)
    seen = group_batches(numbered([4, 8]), settings, Progress())
    middles = [1.5 / 4, 3.5 / 4, 1 + 1.5 / 8, 1 + 4.5 / 8, 1 + 7 / 8]
    assert [group.progress for group in seen] == [middle / 2 for middle in middles]


@pytest.mark.parametrize(
    ("settings", "progress", "reason"),
    [
        ({"minutes": 2.0}, Progress(seconds=120.0), "minutes"),
        ({"minutes": 2.0}, Progress(seconds=119.9), None),
        ({"minutes": 0.5, "epochs": 0}, Progress(seconds=30.0, epoch=99), "minutes"),
        ({"epochs": 3}, Progress(epoch=3), "epochs"),
        ({"epochs": 3}, Progress(epoch=2, batch=9), None),
        ({"epochs": 1, "updates": 5}, Progress(epoch=2, update=4), None),
        ({"epochs": 1, "updates": 5}, Progress(update=5), "updates"),
        ({"patience": 2}, Progress(metric_history=(2.0, 1.0, 1.5)), "patience"),
        ({"patience": 2}, Progress(metric_history=(1.0, 2.0, 1.5)), None),
    ],
)
def test_a_run_is_over_when_what_was_asked_for_is_done(settings, progress, reason) -> None:
    assert stop_reason(TrainingConfig(**settings), progress) == reason


@given(st.lists(st.integers(), max_size=9), st.integers(1, 5))
def test_shares_of_a_batch_are_the_batch(batch: list[int], size: int) -> None:
    lists: Lists[int] = Lists(lambda epoch: [])
    shares = [lists.shard(batch, rank, size) for rank in range(size)]
    assert sorted(chain.from_iterable(shares)) == sorted(batch)
    assert sum(map(lists.weight, shares)) == lists.weight(batch)


def test_an_epoch_is_planned_once() -> None:
    planned = []
    lists: Lists[int] = Lists(lambda epoch: planned.append(epoch) or [[1]] * 3)
    list(islice(group_batches(lists, TrainingConfig(), Progress()), 6))
    assert planned == [0, 1]


def test_an_epoch_of_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="nothing to train on"):
        next(group_batches(Lists(lambda epoch: []), TrainingConfig(), Progress()))
