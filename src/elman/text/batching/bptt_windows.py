"""A long text as parallel streams, cut into windows for truncated backpropagation (BPTT).

The N ids are cut into B stretches of like length, a row each. A window holds the next few ids of every
row, so the state that a network had at the end of one window is the state before the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from elman.errors import ConfigError, DataError
from elman.shapes import Tensor
from elman.state import shard_slice
from elman.text.vocab import EOS, PAD

W = TypeVar("W", bound="StreamBatch")

# Merity et al. 2018: the usual length with this probability, else half of it, and never less than five.
_USUAL, _LEAST = 0.95, 5


class BPTTWindow(NamedTuple):
    """``targets[b, t]`` is the token after ``ids[b, t]``; ``mask`` is false behind the end of a row.

    Only the last windows of an epoch have such ends, and nothing comes after them: a network may run
    over them, if the loss does not count them.
    """

    ids: NDArray[np.int64]
    targets: NDArray[np.int64]
    mask: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BPTTWindows:
    """Every token of a text is a target exactly once an epoch, whatever the batch and the lengths.

    Before the first token stands ``first``. Windows are ``bptt`` long; with a ``bptt_std`` their lengths are
    drawn anew each epoch with that standard deviation, half as long now and then. With ``rotate`` the streams
    begin elsewhere in the text each epoch, in a circle. Each window is found without those before it.
    """

    ids: NDArray[Any]
    streams: int
    bptt: int
    bptt_std: float = 0.0
    rotate: bool = False
    seed: int = 0
    first: int = EOS

    def __post_init__(self) -> None:
        if self.streams < 1 or self.bptt < 1:
            raise ConfigError(f"streams and bptt must be 1 or more, not {self.streams} and {self.bptt}")
        if len(self.ids) < self.streams:
            raise DataError(
                f"a text of {len(self.ids)} tokens cannot be cut into {self.streams} streams; "
                "use fewer streams or a longer text"
            )

    def count(self, epoch: int = 0) -> int:
        """How many windows an epoch has."""
        return len(self._starts(epoch)) - 1

    def __call__(self, epoch: int = 0, start: int = 0) -> Iterator[BPTTWindow]:
        """The windows of an epoch, the first ``start`` left out at no cost."""
        for index in range(start, self.count(epoch)):
            yield self.window(index, epoch)

    def window(self, index: int, epoch: int = 0) -> BPTTWindow:
        """The window with this index, from 0."""
        starts = self._starts(epoch)
        # Where the rows begin and end; some are one token longer than others.
        edges = np.arange(self.streams + 1, dtype=np.int64)[:, None] * len(self.ids) // self.streams
        places = edges[:-1] + np.arange(starts[index], starts[index + 1])
        mask = places < edges[1:]
        if self.rotate:
            places += np.random.default_rng([self.seed, epoch, 1]).integers(len(self.ids))
        places %= len(self.ids)
        targets = self.ids[places].astype(np.int64)
        ids = np.where(places > 0, self.ids[places - 1], self.first).astype(np.int64)
        return BPTTWindow(np.where(mask, ids, PAD), np.where(mask, targets, PAD), mask)

    def _starts(self, epoch: int) -> NDArray[np.int64]:
        longest = -(-len(self.ids) // self.streams)
        if not self.bptt_std:
            bptt = min(self.bptt, longest)
            count = -(-longest // bptt)
            # The last is as long as the others: shapes that change would not fit a recorded graph.
            return np.arange(count + 1, dtype=np.int64) * bptt
        return _sample_starts(longest, self.bptt, self.bptt_std, self.seed, epoch)


@lru_cache(maxsize=4)
def _sample_starts(longest: int, bptt: int, std: float, seed: int, epoch: int) -> NDArray[np.int64]:
    """Where windows of random length begin, and where the last one ends."""
    rng = np.random.default_rng([seed, epoch, 0])
    count = -(-longest // min(_LEAST, bptt))  # enough even if all are of the least length
    usual = np.where(rng.random(count) < _USUAL, bptt, bptt / 2)
    lengths = np.maximum(rng.normal(usual, std).astype(np.int64), min(_LEAST, bptt))
    ends = np.cumsum(lengths)
    last = int(np.searchsorted(ends, longest))
    return np.concatenate(([0], ends[:last], [longest]))


@runtime_checkable
class StreamBatch(Protocol):
    """A window of parallel streams as tensors, a row a stream."""

    @property
    def ids(self) -> Tensor: ...

    @property
    def weight(self) -> float:
        """How many of its tokens count."""

    def pick(self: W, rows: slice) -> W:
        """Some of the streams."""


class BPTTBatches(Generic[W]):
    """The windows of a text one after the other, each made a batch by ``collate``."""

    def __init__(self, windows: BPTTWindows, collate: Callable[[BPTTWindow], W]) -> None:
        self.windows, self.collate = windows, collate

    def __call__(self, epoch: int, start: int) -> Iterator[W]:
        return map(self.collate, self.windows(epoch, start))

    def count(self, epoch: int) -> int:
        return self.windows.count(epoch)

    def weight(self, batch: W) -> float:
        return batch.weight

    @property
    def largest(self) -> tuple[int, int]:
        """The most tokens of a batch, and those of one of its streams."""
        longest = int(np.diff(self.windows._starts(0)).max())
        return self.windows.streams * longest, longest

    def shard(self, batch: W, rank: int, size: int) -> W:
        if len(batch.ids) < size:
            raise ConfigError(f"data.streams is {len(batch.ids)}, too few for {size} processes: each needs one")
        return batch.pick(shard_slice(len(batch.ids), rank, size))
