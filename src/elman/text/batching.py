"""Lists of numbers to padded tensors, and examples of like length together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import torch

from elman.shapes import Bool, Int, Tensor
from elman.text.vocab import PAD

# Lengths are compared after each was stretched by up to this share: enough for other companions
# every epoch, little enough for the padding.
_NOISE = 0.05


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


def batches(
    lengths: Sequence[int | tuple[int, ...]], *, tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Every example once, in batches of like length of at most `tokens` ids, padding included.

    Examples of several sides, such as pairs, have a length for each: the first sides of a batch are of like
    length, and among those the second ones are.
    The same seed and epoch give the same batches in the same order, another epoch gives others.
    An example longer than `tokens` is a batch of its own.
    """
    if not lengths:
        return []
    rng = np.random.default_rng([seed, epoch])
    sizes = np.maximum(np.asarray(lengths, np.int64).reshape(len(lengths), -1), 1)
    mixed = rng.permutation(len(sizes))
    stretched = sizes[mixed] * rng.uniform(1, 1 + _NOISE, len(sizes))[:, None]
    *coarse, finest = stretched.T
    order = mixed[np.lexsort((finest, *(np.round(side) for side in reversed(coarse))))]
    cuts = _cuts(sizes[order].tolist(), tokens)
    members = order.tolist()
    cut = [members[start:end] for start, end in pairwise(cuts)]
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
