"""Scores of parts of the data: by length, and by how many words training never saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elman.tasks.judgement import Judgement

UNSEEN = (0.0, 0.1, 0.25, 1.0)  # shares up to which a slice goes

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Some of the examples: by what and which they are chosen, how many there are, and their scores."""

    by: str
    name: str
    count: int
    scores: dict[str, float]


def score_slices(judgement: Judgement) -> list[Slice]:
    """The quartiles of length, then slices by the share of unseen words; those without examples are left out.

    A model of characters or subwords has no unseen words.
    """
    found = [("length", *one) for one in _by_length(judgement.tokens)]
    if judgement.unseen is not None:
        shares = judgement.unseen / np.maximum(judgement.tokens, 1)
        found += [("unseen words", *one) for one in _by_share(shares)]
    return [
        Slice(by, name, int(mask.sum()), {score: count(mask) for score, count in judgement.scores.items()})
        for by, name, mask in found
    ]


def _by_length(tokens: npt.NDArray[np.int64]) -> Iterator[tuple[str, Mask]]:
    ends = np.unique(np.quantile(tokens, [0.25, 0.5, 0.75, 1], method="lower"))
    quarter = np.searchsorted(ends, tokens)
    for i in range(len(ends)):
        mask = quarter == i
        first, last = tokens[mask].min(), tokens[mask].max()
        yield f"{first} tokens" if first == last else f"{first} to {last} tokens", mask


def _by_share(shares: npt.NDArray[np.float64]) -> Iterator[tuple[str, Mask]]:
    before = -1.0
    for most in UNSEEN:
        mask = (shares > before) & (shares <= most)
        if mask.any():
            yield _name(before, most), mask
        before = most


def _name(above: float, most: float) -> str:
    if above < 0:
        return "none"
    if most == 1:
        return f"over {100 * above:.0f} %"
    return f"{100 * above:.0f} to {100 * most:.0f} %" if above else f"up to {100 * most:.0f} %"
