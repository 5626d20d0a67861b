"""A long text as parallel streams, cut into windows for truncated backpropagation.

The N ids are cut into B stretches of like length, a row each. A window holds the next few ids of every
row, so the state that a network had at the end of one window is the state before the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elman.errors import ConfigError, DataError
from elman.text.vocab import EOS, PAD

# Merity et al. 2018: the usual length with this probability, else half of it, and never less than five.
_USUAL, _LEAST = 0.95, 5


class Window(NamedTuple):
    """``targets[b, t]`` is the token after ``ids[b, t]``; ``mask`` is false behind the end of a row.

    Only the last windows of an epoch have such ends, and nothing comes after them: a network may run
    over them, if the loss does not count them.
    """

    ids: NDArray[np.int64]
    targets: NDArray[np.int64]
    mask: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Streams:
    """Every token of a text is a target exactly once an epoch, whatever the batch and the lengths.

    Before the first token stands ``first``. Windows are ``steps`` long; with a ``spread`` they are drawn anew
    each epoch, half as long now and then, with that standard deviation. ``rotated`` streams begin
    elsewhere in the text each epoch, in a circle. Each window is found without those before it.
    """

    ids: NDArray[Any]
    batch: int
    steps: int
    spread: float = 0.0
    rotated: bool = False
    seed: int = 0
    first: int = EOS

    def __post_init__(self) -> None:
        if self.batch < 1 or self.steps < 1:
            raise ConfigError(
                f"streams need a batch and steps of 1 or more, not {self.batch} and {self.steps}"
            )
        if len(self.ids) < self.batch:
            raise DataError(
                f"a text of {len(self.ids)} tokens cannot be cut into {self.batch} streams; "
                "use a smaller batch or a longer text"
            )

    def count(self, epoch: int = 0) -> int:
        """How many windows an epoch has."""
        return len(self._starts(epoch)) - 1

    def __call__(self, epoch: int = 0, start: int = 0) -> Iterator[Window]:
        """The windows of an epoch, the first ``start`` left out at no cost."""
        for index in range(start, self.count(epoch)):
            yield self.window(index, epoch)

    def window(self, index: int, epoch: int = 0) -> Window:
        """The window with this index, from 0."""
        starts = self._starts(epoch)
        within = np.arange(starts[index], starts[index + 1])
        begins, ends = self._edges[:-1, None], self._edges[1:, None]
        places = begins + within
        mask = places < ends
        places = (places + self._offset(epoch)) % len(self.ids)
        targets = self.ids[places].astype(np.int64)
        ids = np.where(places > 0, self.ids[places - 1], self.first).astype(np.int64)
        return Window(np.where(mask, ids, PAD), np.where(mask, targets, PAD), mask)

    @property
    def _edges(self) -> NDArray[np.int64]:
        """Where the rows begin and end; some are one token longer than others."""
        return np.arange(self.batch + 1, dtype=np.int64) * len(self.ids) // self.batch

    def _starts(self, epoch: int) -> NDArray[np.int64]:
        longest = -(-len(self.ids) // self.batch)
        if not self.spread:
            count = -(-longest // self.steps)
            # The last is as long as the others: shapes that change would not fit a recorded graph.
            return np.arange(count + 1, dtype=np.int64) * self.steps
        return _drawn(longest, self.steps, self.spread, self.seed, epoch)

    def _offset(self, epoch: int) -> int:
        if not self.rotated:
            return 0
        return int(np.random.default_rng([self.seed, epoch, 1]).integers(len(self.ids)))


@lru_cache(maxsize=4)
def _drawn(longest: int, steps: int, spread: float, seed: int, epoch: int) -> NDArray[np.int64]:
    """Where windows of random length begin, and where the last one ends."""
    rng = np.random.default_rng([seed, epoch, 0])
    count = -(-longest // min(_LEAST, steps))  # enough even if all are of the least length
    usual = np.where(rng.random(count) < _USUAL, steps, steps / 2)
    lengths = np.maximum(rng.normal(usual, spread).astype(np.int64), min(_LEAST, steps))
    ends = np.cumsum(lengths)
    last = int(np.searchsorted(ends, longest))
    return np.concatenate(([0], ends[:last], [longest]))
