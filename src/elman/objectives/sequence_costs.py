"""What an output costs, held against its reference: 0 is perfect.

A cost takes several outputs for each reference, as words or ids, and returns as many numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from elman.metrics import AddK, edit_distances, sentence_bleus
from elman.metrics.references import Tokens

Outputs = Sequence[Sequence[Tokens]]  # for each reference, the outputs that are compared with it
Cost = Callable[[Outputs, Sequence[Tokens]], list[list[float]]]
"""What each output costs, compared with its reference."""


def bleu_cost(outputs: Outputs, references: Sequence[Tokens]) -> list[list[float]]:
    """1 - sentence BLEU, each longer n-gram smoothed by one (Lin & Och 2004)."""
    scores = sentence_bleus(outputs, [[one] for one in references], smoothing=AddK(1))
    return [[1 - score / 100 for score in some] for some in scores]


def edit_cost(outputs: Outputs, references: Sequence[Tokens]) -> list[list[float]]:
    """Edits for each token of the reference, at most 1: beyond that an output is as bad as none."""
    ids: dict[object, int] = {}

    def table(rows: list[Tokens]) -> tuple[np.ndarray, np.ndarray]:
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(max(1, lengths.max(initial=0))) < lengths[:, None]
        numbers = np.zeros(mask.shape, np.int64)
        numbers[mask] = [ids.setdefault(token, len(ids)) for row in rows for token in row]
        return numbers, mask

    rows = [output for some in outputs for output in some]
    those = [one for one, some in zip(references, outputs, strict=True) for _ in some]
    counted = edit_distances(*table(rows), *table(those)).tolist()
    flat = iter(min(1.0, count / max(1, len(one))) for count, one in zip(counted, those, strict=True))
    return [[next(flat) for _ in some] for some in outputs]


def pairwise_cost(function: Callable[[Tokens, Tokens], float]) -> Cost:
    """The cost that a function of an output and its reference gives."""

    def cost(outputs: Outputs, references: Sequence[Tokens]) -> list[list[float]]:
        both = zip(outputs, references, strict=True)
        return [[float(function(output, one)) for output in some] for some, one in both]

    return cost


def exact_cost(outputs: Outputs, references: Sequence[Tokens]) -> list[list[float]]:
    """0 where output and reference are equal, else 1."""
    return pairwise_cost(lambda output, one: list(output) != list(one))(outputs, references)


CostName = Literal["bleu", "edits", "exact"]
COSTS: dict[CostName, Cost] = {"bleu": bleu_cost, "edits": edit_cost, "exact": exact_cost}
"""Costs by the names of configurations."""
