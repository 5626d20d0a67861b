"""A state carried from batch to batch, as truncated backpropagation has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from elman.errors import ModelError
from elman.state import State, shard_slice, to_bytes
from elman.training.distributed import World
from elman.training.events import Checkpoint
from elman.training.stateful_loss import pack_state, unpack_state
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit


class Running:
    """A loss that sums what it has seen in this epoch, batch after batch: (1, 2, …) of a counter."""

    def __init__(self, bad: int = -1) -> None:
        self.net = nn.Linear(1, 1)
        self.bad, self.calls = bad, 0
        self.seen: list[float] = []

    def begin(self, batch: Tensor) -> State:
        return State(sum=torch.zeros(len(batch)))

    def __call__(self, batch: Tensor, progress: float, state: Any) -> tuple[Tensor, State]:
        self.seen.append(state.sum[0].item())
        self.calls += 1
        loss = self.net(batch[:, None]).mean()
        after = state.sum + batch + 0 * loss  # of the graph, which must not grow
        return loss * (torch.nan if self.calls == self.bad else 1), State(sum=after)


class Numbers:
    def __call__(self, epoch: int, start: int) -> Iterator[Tensor]:
        return (torch.full((2,), float(i + 1)) for i in range(start, 4))

    def count(self, epoch: int) -> int:
        return 4

    def weight(self, batch: Tensor) -> float:
        return 1.0

    def shard(self, batch: Tensor, rank: int, size: int) -> Tensor:
        return batch[shard_slice(len(batch), rank, size)]


def test_the_state_goes_on_and_begins_anew_with_each_epoch() -> None:
    loss = Running()
    list(fit(loss.net, Numbers(), loss, TrainingConfig(epochs=2)))
    assert loss.seen == [0, 1, 3, 6] * 2


def test_the_state_goes_through_the_batches_of_one_update() -> None:
    loss = Running()
    list(fit(loss.net, Numbers(), loss, TrainingConfig(epochs=2, grad_accumulation=3)))
    assert loss.seen == [0, 1, 3, 6] * 2


@pytest.mark.parametrize("stop", range(1, 8))
def test_a_snapshot_holds_the_state(stop: int) -> None:
    loss = Running()
    for event in fit(loss.net, Numbers(), loss, TrainingConfig(epochs=2)):
        if isinstance(event, Checkpoint) and event.number == stop:
            snapshot = event.snapshot()
            break
    resumed = Running()
    list(fit(resumed.net, Numbers(), resumed, TrainingConfig(epochs=2), resume=snapshot))
    assert loss.seen + resumed.seen == [0, 1, 3, 6] * 2


def test_a_failed_update_leaves_the_state_before_it() -> None:
    loss, snapshots = Running(bad=3), []

    def follow() -> None:
        happened = fit(loss.net, Numbers(), loss, TrainingConfig(epochs=1))
        snapshots.extend(event.snapshot() for event in happened if isinstance(event, Checkpoint))

    with pytest.raises(ModelError, match="the loss is nan"):
        follow()
    assert len(snapshots) == 2
    resumed = Running()
    list(fit(resumed.net, Numbers(), resumed, TrainingConfig(epochs=1), resume=snapshots[-1]))
    assert resumed.seen == [3, 6]


class Half(World):
    """One of two processes, whose other one has this state."""

    def __init__(self, rank: int, others: Sequence[bytes]) -> None:
        super().__init__(rank, 2)
        object.__setattr__(self, "others", others)

    def gather(self, value: Any) -> list[Any]:
        return [value, *self.others] if self.rank == 0 else [*self.others, value]


def test_the_states_of_all_processes_are_kept_in_the_order_of_rows() -> None:
    rows = torch.arange(10.0).view(5, 2)
    parts = [(State(h=rows[shard_slice(5, r, 2)]), rows[shard_slice(5, r, 2)].half()) for r in range(2)]
    stored = pack_state(parts[0], Half(0, [to_bytes(parts[1])]))
    for world in (World(0, 1), World(0, 2), World(1, 2), World(2, 3)):
        state = unpack_state(stored, world, torch.device("cpu"))
        assert torch.equal(state[0].h, rows[shard_slice(5, world.rank, world.size)])
        assert state[1].dtype is torch.float16
    assert pack_state((), World()) == {}
    assert unpack_state({}, World(), torch.device("cpu")) == ()


@pytest.mark.parametrize(("count", "size"), [(5, 2), (7, 3), (4, 4)])
def test_blocks_are_all_rows_once(count: int, size: int) -> None:
    rows = list(range(count))
    assert [row for rank in range(size) for row in rows[shard_slice(count, rank, size)]] == rows
