"""Examples of like length together, to train on and to predict with, and filled up to a rectangle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch

from elman.shapes import Bool, Int, Tensor
from elman.text.vocab import PAD

# Lengths are compared after each was stretched by up to this share: enough for other companions
# every epoch, little enough for the padding.
_NOISE = 0.05

D = TypeVar("D", bound="Examples")


@runtime_checkable
class Examples(Protocol):
    """Encoded examples, of which some can be picked by number."""

    @property
    def lengths(self) -> Sequence[int | tuple[int, ...]]:
        """Tokens of each example; of a pair, those of each side."""

    def pick(self: D, index: Iterable[int]) -> D:
        """Some of the examples."""

    def __len__(self) -> int: ...


class BucketBatches(Generic[D]):
    """Batches of like length, of at most ``tokens`` tokens, shuffled anew each epoch by the seed."""

    def __init__(self, data: D, tokens: int, seed: int, weigh: Callable[[D], float]) -> None:
        self.data, self.tokens, self.seed, self.weight = data, tokens, seed, weigh
        self.lengths = data.lengths
        self._latest: tuple[int, Sequence[Sequence[int]]] = (-1, ())

    def __call__(self, epoch: int, start: int) -> Iterator[D]:
        return (self.data.pick(index) for index in self._plan(epoch)[start:])

    def count(self, epoch: int) -> int:
        return len(self._plan(epoch))

    @property
    def largest(self) -> tuple[int, int]:
        """The most tokens of a batch, padding included, and those of the longest side of an example."""
        if not len(self.lengths):
            return 0, 0
        sides = np.asarray(self.lengths, np.int64).reshape(len(self.lengths), -1)
        example, padded, longest = int(sides.sum(1).max()), int(sides.max(0).sum()), int(sides.max())
        return min(max(self.tokens, example), len(sides) * padded), longest

    def shard(self, batch: D, rank: int, size: int) -> D:
        return batch.pick(range(rank, len(batch), size))

    def _plan(self, epoch: int) -> Sequence[Sequence[int]]:
        if self._latest[0] != epoch:
            plan = bucket_batches(self.lengths, tokens=self.tokens, seed=self.seed, epoch=epoch)
            self._latest = epoch, plan
        return self._latest[1]


def bucket_batches(
    lengths: Sequence[int | tuple[int, ...]], *, tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Every example once, in batches of like length of at most `tokens` ids, padding included.

    Examples of several sides, such as pairs, have a length for each: the first sides of a batch are of like
    length, and among those the second ones are. The same seed and epoch give the same batches in the same
    order, another epoch gives others. An example longer than `tokens` is a batch of its own.
    """
    if not lengths:
        return []
    rng = np.random.default_rng([seed, epoch])
    sizes = np.maximum(np.asarray(lengths, np.int64).reshape(len(lengths), -1), 1)
    mixed = rng.permutation(len(sizes))
    stretched = sizes[mixed] * rng.uniform(1, 1 + _NOISE, len(sizes))[:, None]
    *coarse, finest = stretched.T
    order = mixed[np.lexsort((finest, *(np.round(side) for side in reversed(coarse))))]
    members = order.tolist()
    cut = [members[start:end] for start, end in pairwise(_cuts(sizes[order].tolist(), tokens))]
    return [cut[i] for i in rng.permutation(len(cut))]


def _cuts(sizes: list[list[int]], tokens: int) -> list[int]:
    """Where batches begin and end: each takes examples until its rectangles would be too large."""
    cuts, start, longest = [0], 0, [0] * len(sizes[0])
    for i, size in enumerate(sizes):
        longest = [*map(max, longest, size)]
        if i > start and (i + 1 - start) * sum(longest) > tokens:
            cuts.append(i)
            start, longest = i, size
    return [*cuts, len(sizes)]


def length_sorted_chunks(
    lengths: Sequence[int], *, max_rows: int, max_tokens: int | None = None
) -> Iterator[list[int]]:
    """Numbers of rows, the shortest first, so few together that long ones need no more memory.

    A chunk has at most ``max_rows`` rows and ``max_tokens`` tokens, padding included; a longer row is alone.
    """
    chunk: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        too_wide = max_tokens is not None and (len(chunk) + 1) * lengths[i] > max_tokens
        if chunk and (len(chunk) == max_rows or too_wide):
            yield chunk
            chunk = []
        chunk.append(i)
    if chunk:
        yield chunk


class Padded(NamedTuple):
    """Rows of different length as one rectangle; `mask` is true on real tokens."""

    ids: Int[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]


def pad(rows: Sequence[Sequence[int]]) -> Padded:
    """The rows, filled up on the right with `PAD` to the longest."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    mask = np.arange(lengths.max(initial=0)) < lengths[:, None]
    ids = np.full(mask.shape, PAD, np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return Padded(torch.from_numpy(ids), torch.from_numpy(mask))
