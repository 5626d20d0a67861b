"""Examples to learn from, examples to judge by, and batches of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from elman.errors import DataError
from elman.tasks.settings import Files
from elman.text.batching import batches
from elman.training.batches import Batches

E = TypeVar("E")
X = TypeVar("X", bound="Encoded")


@runtime_checkable
class Encoded(Protocol):
    """Examples as numbers."""

    rows: list[Any]

    def pick(self: X, index: Any) -> X:
        """Some of them, by number."""

    def __len__(self) -> int: ...


def split(data: Files, read: Callable[..., Iterator[E]]) -> tuple[list[E], list[E]]:
    """Training and validation examples; these are held out of those where no file is given."""
    examples = list(read(data, data.train, train=True))
    if data.valid:
        return examples, list(read(data, data.valid))
    if not data.holdout:
        return examples, []
    count = max(1, int(len(examples) * data.holdout))
    if count >= len(examples):
        raise DataError(f"{data.train}: too few examples ({len(examples)}) to hold any out")
    held = set(np.random.default_rng(0).permutation(len(examples))[:count].tolist())
    return (
        [e for i, e in enumerate(examples) if i not in held],
        [e for i, e in enumerate(examples) if i in held],
    )


class Buckets(Batches[X]):
    """Batches of like length and of at most ``tokens`` tokens, planned anew each epoch from the seed."""

    def __init__(self, data: X, tokens: int, seed: int, weigh: Callable[[X], float]) -> None:
        self.data, self.seed, self.weigh = data, seed, weigh
        self.lengths = [len(row) for row in data.rows]
        self.tokens = tokens
        self._planned: tuple[int, Sequence[Sequence[int]]] = (-1, ())

    def __call__(self, epoch: int, start: int) -> Iterator[X]:
        return (self.data.pick(index) for index in self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    def weight(self, batch: X) -> float:
        return self.weigh(batch)

    def share(self, batch: X, rank: int, size: int) -> X:
        return batch.pick(range(rank, len(batch), size))

    def _plan(self, epoch: int) -> Sequence[Sequence[int]]:
        if self._planned[0] != epoch:
            plan = batches(self.lengths, tokens=self.tokens, seed=self.seed, epoch=epoch)
            self._planned = epoch, plan
        return self._planned[1]
