"""What ``fit`` asks of the data, and how far it has come in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

from elman.errors import DataError
from elman.training.optimizers import evaluations_since_best
from elman.training.training_config import TrainingConfig

B = TypeVar("B")

StopReason = Literal["epochs", "updates", "minutes", "patience", "failure"]


@runtime_checkable
class Batches(Protocol[B]):
    """The batches of a training set: the same at every call, whatever was called before."""

    def __call__(self, epoch: int, start: int) -> Iterator[B]:
        """The batches of an epoch (from 0), the first ``start`` of them skipped at no cost."""

    def count(self, epoch: int) -> int:
        """How many batches that epoch has; asked only when a run is measured in epochs."""

    def weight(self, batch: B) -> float:
        """How many examples or tokens the loss of a batch is the mean of."""

    def shard(self, batch: B, rank: int, size: int) -> B:
        """The part for one of ``size`` processes; the parts' weights add up to the batch's."""


@dataclass(frozen=True)
class BatchGroup(Generic[B]):
    """The batches of one update."""

    batches: tuple[B, ...]
    update: int  # its number, from 1
    epoch: int  # from 0
    start: int  # batches of the epoch before these
    last: bool  # of its epoch
    progress: float  # share of the run that is done in the middle of this update

    @property
    def place(self) -> str:
        """Where it is, for people, who count from 1."""
        first, last = self.start + 1, self.start + len(self.batches)
        which = f"batch {first}" if first == last else f"batches {first} to {last}"
        return f"update {self.update} (epoch {self.epoch + 1}, {which})"


def group_batches(batches: Batches[B], config: TrainingConfig, begin: Progress) -> Iterator[BatchGroup[B]]:
    """The batches of every update from a point of the run on, epoch after epoch, until all is done.

    An update does not reach over the end of an epoch: the last of an epoch may have fewer batches.
    """
    update, epoch, start = begin.update, begin.epoch, begin.batch
    while update < config.updates if config.updates else epoch < config.epochs:
        count = 0 if config.updates else batches.count(epoch)
        stream = batches(epoch, start)
        group = tuple(islice(stream, config.grad_accumulation))
        if not group:
            raise DataError(f"there is nothing to train on: epoch {epoch + 1} ends at batch {start}")
        while group:
            following = tuple(islice(stream, config.grad_accumulation))
            end = start + len(group)
            share = (start + end) / 2 / max(count, end)
            progress = (update + 0.5) / config.updates if config.updates else (epoch + share) / config.epochs
            yield BatchGroup(group, update + 1, epoch, start, not following, progress)
            update, start, group = update + 1, end, following
        epoch, start = epoch + 1, 0


@dataclass(frozen=True)
class Progress:
    """All of a run's state that is no tensor. It stands between two updates."""

    update: int = 0  # updates done
    epoch: int = 0  # epochs done
    batch: int = 0  # batches done of the epoch begun
    seconds: float = 0.0  # of training and evaluation
    metric_history: tuple[float, ...] = ()  # the metric that counts, of each evaluation; higher is better
    scores: dict[str, float] = field(default_factory=dict)  # of the best evaluation
    best_update: int = -1  # after which the best evaluation was; 0: before the first
    evaluation_due: bool = False  # of these weights: they were given, or it was interrupted


def stop_reason(config: TrainingConfig, progress: Progress) -> StopReason | None:
    """Why training is over, or None while it is not; "patience" is early stopping."""
    if config.updates and progress.update >= config.updates:
        return "updates"
    if not config.updates and progress.epoch >= config.epochs:
        return "epochs"
    if config.patience and evaluations_since_best(progress.metric_history) >= config.patience:
        return "patience"
    if config.minutes and progress.seconds >= 60 * config.minutes:
        return "minutes"
    return None
