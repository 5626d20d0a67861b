"""What ``fit`` asks of the data, and how far it has come in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import inf
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
    progress: float  # share of the run that is done in the middle of this update; 0 where only time ends it

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
    while not _is_over(config, update, epoch):
        measured = config.epochs and not config.updates
        count = batches.count(epoch) if measured else 0
        stream = batches(epoch, start)
        group = tuple(islice(stream, config.grad_accumulation))
        if not group:
            raise DataError(f"there is nothing to train on: epoch {epoch + 1} ends at batch {start}")
        while group:
            following = tuple(islice(stream, config.grad_accumulation))
            end = start + len(group)
            share = (start + end) / 2 / max(count, end)
            progress = (epoch + share) / config.epochs if measured else (update + 0.5) / (config.updates or inf)
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
    evaluated_at: float = 0.0  # seconds of the run at the end of the last evaluation
    evaluation_seconds: float = 0.0  # that it took


def _is_over(config: TrainingConfig, update: int, epoch: int) -> bool:
    if config.updates:
        return update >= config.updates
    return bool(config.epochs) and epoch >= config.epochs


def is_evaluation_due(config: TrainingConfig, progress: Progress, group: BatchGroup[B]) -> bool:
    """Whether the weights are to be evaluated after an update.

    By ``evaluation_share`` they are when the last evaluation took at most that share of the time since then,
    and a fortieth of the run has gone by.
    """
    if config.evaluate_every:
        return group.update % config.evaluate_every == 0
    if not config.evaluation_share:
        return group.last
    least = max(60 * config.minutes / 40, progress.evaluation_seconds / config.evaluation_share)
    return progress.seconds - progress.evaluated_at >= least


def stop_reason(config: TrainingConfig, progress: Progress) -> StopReason | None:
    """Why training is over, or None while it is not; "patience" is early stopping."""
    if _is_over(config, progress.update, progress.epoch):
        return "updates" if config.updates else "epochs"
    if config.patience and evaluations_since_best(progress.metric_history) >= config.patience:
        return "patience"
    if config.minutes and progress.seconds >= 60 * config.minutes:
        return "minutes"
    return None
