"""A part of the examples that holds every smaller part, to see what more data gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def nested_subset(examples: Sequence[Any], share: float, strata: Callable[[Any], tuple[str, ...]]) -> list[Any]:
    """So large a share of the examples, in their order: drawn at random, but always the same.

    One example of each label is in every part, so that models of all sizes can be judged on the same data.
    """
    order = np.random.default_rng(0).permutation(len(examples)).tolist()
    seen: set[str] = set()
    first: list[int] = []
    others: list[int] = []
    for i in order:
        labels = set(strata(examples[i]))
        (others if labels <= seen else first).append(i)
        seen |= labels
    count = max(1, len(first), int(share * len(examples)))
    return [examples[i] for i in sorted([*first, *others][:count])]
