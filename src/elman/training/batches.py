"""What ``fit`` asks of the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar, runtime_checkable

from elman.errors import DataError
from elman.training.position import Position
from elman.training.settings import Settings

B = TypeVar("B")
E = TypeVar("E")


@runtime_checkable
class Batches(Protocol[B]):
    """The batches of a training set: the same at every call, whatever was called before."""

    def __call__(self, epoch: int, start: int) -> Iterator[B]:
        """The batches of an epoch (from 0), the first ``start`` of them skipped at no cost."""

    def count(self, epoch: int) -> int:
        """How many batches that epoch has; asked only when a run is measured in epochs."""

    def weight(self, batch: B) -> float:
        """How many examples or tokens the loss of a batch is the mean of."""

    def share(self, batch: B, rank: int, size: int) -> B:
        """The part for one of ``size`` processes; the parts' weights add up to the batch's."""


def block(count: int, rank: int, size: int) -> slice:
    """The part of ``count`` rows in succession that one of ``size`` processes has."""
    return slice(rank * count // size, (rank + 1) * count // size)


class Lists(Generic[E]):
    """Batches that are lists of examples; ``plan`` gives those of an epoch."""

    def __init__(
        self,
        plan: Callable[[int], Sequence[Sequence[E]]],
        weigh: Callable[[Sequence[E]], float] = len,
    ) -> None:
        self.plan = plan
        self.weigh = weigh
        self._planned: tuple[int, Sequence[Sequence[E]]] = (-1, ())

    def __call__(self, epoch: int, start: int) -> Iterator[Sequence[E]]:
        return iter(self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    def weight(self, batch: Sequence[E]) -> float:
        return self.weigh(batch)

    def share(self, batch: Sequence[E], rank: int, size: int) -> Sequence[E]:
        return batch[rank::size]

    def _plan(self, epoch: int) -> Sequence[Sequence[E]]:
        if self._planned[0] != epoch:
            self._planned = epoch, self.plan(epoch)
        return self._planned[1]


@dataclass(frozen=True)
class Group(Generic[B]):
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


def groups(batches: Batches[B], settings: Settings, position: Position) -> Iterator[Group[B]]:
    """The batches of every update from a position on, epoch after epoch, until all is done.

    An update does not reach over the end of an epoch: the last of an epoch may have fewer batches.
    """
    update, epoch, start = position.update, position.epoch, position.batch
    while update < settings.updates if settings.updates else epoch < settings.epochs:
        count = 0 if settings.updates else batches.count(epoch)
        stream = batches(epoch, start)
        group = tuple(islice(stream, settings.accumulate))
        if not group:
            raise DataError(
                f"there is nothing to train on: epoch {epoch + 1} ends at batch {start}"
            )
        while group:
            following = tuple(islice(stream, settings.accumulate))
            end = start + len(group)
            share = (start + end) / 2 / max(count, end)
            progress = (
                (update + 0.5) / settings.updates
                if settings.updates
                else (epoch + share) / settings.epochs
            )
            yield Group(group, update + 1, epoch, start, not following, progress)
            update, start, group = update + 1, end, following
        epoch, start = epoch + 1, 0
