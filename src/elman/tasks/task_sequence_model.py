"""A task that writes, as objectives see it: how its data becomes batches of theirs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from elman.shapes import Tensor


class TaskSequenceModel:
    """What a task's `elman.decoding.sequence_model.SequenceModel` offers beyond that protocol."""

    def collate(self, examples: Any) -> Any:
        """Some encoded examples as a batch."""
        return examples

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        """What costs compare of sequences: their tokens."""
        return [list(row) for row in rows]

    def training_loss(self, objective: Callable[..., Tensor]) -> Any:
        """The objective as ``fit`` wants it."""
        return lambda batch, progress: objective(self, self.collate(batch), progress)

    def sample_batches(self, dataset: Any, limit: int, rows: int = 50) -> Iterator[Any]:
        """Batches of at most ``limit`` sequences, spread over a dataset."""
        count = min(limit, len(dataset))
        some = [i * len(dataset) // count for i in range(count)]
        ordered = sorted(some, key=lambda i: dataset.lengths[i])
        for first in range(0, count, rows):
            yield self.collate(dataset.pick(ordered[first : first + rows]))
