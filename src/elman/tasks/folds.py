"""Cross-validation: the examples dealt into folds, each of which is the test data of one training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from elman.errors import DataError
from elman.shapes import Int, Tensor
from elman.tasks.config import DataConfig
from elman.tasks.holdout import Group, group_examples


def take_fold(
    examples: Sequence[Any],
    data: DataConfig,
    content: Callable[[Any], str],
    strata: Callable[[Any], tuple[str, ...]],
) -> tuple[list[Any], list[Any]]:
    """All examples but those of the fold ``data.fold``, and these; which they are is always the same.

    Examples whose ``content`` is alike are in one fold, and every label is in all folds as nearly as whole
    groups allow. What is the only example of its label is in no fold: no model could learn it for the test.
    """
    groups = group_examples(examples, content, strata)
    folds = deal_groups(groups, data.folds)
    number = {i: fold for group, fold in zip(groups, folds, strict=True) for i in group.members}
    if len({*folds} - {0}) < data.folds:  # said at the first fold, not after hours at the last
        said = f"{data.train}: {data.folds} folds cannot be made of {len(groups):,} different examples"
        alone = f", of which {folds.count(0):,} are in none: no other has their label" if 0 in folds else ""
        raise DataError(f"{said}{alone}; take fewer folds, or give more examples")
    fold = [e for i, e in enumerate(examples) if number[i] == data.fold]
    return [e for i, e in enumerate(examples) if number[i] != data.fold], fold


def deal_texts(texts: Sequence[bytes], folds: int) -> Int[Tensor, " N"]:
    """The fold of each text, from 0, drawn at random but always the same; equal ones are in one fold."""
    numbers: dict[bytes, int] = {}
    each = [numbers.setdefault(text, len(numbers)) for text in texts]
    if len(numbers) == 1:  # a fold needs others to learn from
        each = [*range(len(texts))]
    dealt = torch.randperm(max(each) + 1, generator=torch.Generator().manual_seed(0)) % folds
    return dealt[torch.tensor(each)]


def deal_groups(groups: Sequence[Group], folds: int) -> list[int]:
    """The fold of each group, from 1; 0: it is in none. Groups of rare labels are dealt first."""
    labels = [group.labels or ("",) for group in groups]
    counts = Counter(label for some in labels for label in some)
    order = np.random.default_rng(0).permutation(len(groups)).tolist()
    order.sort(key=lambda i: min(counts[label] for label in labels[i]))
    dealt = [Counter[str]() for _ in range(folds)]
    rows, numbers = [0] * folds, [0] * len(groups)
    for i in order:
        rarest = min(labels[i], key=lambda label: counts[label])
        free = [k for k in range(folds) if all(dealt[k][label] + 1 < counts[label] for label in labels[i])]
        if not free:
            continue
        chosen = min(free, key=lambda k: (dealt[k][rarest], rows[k]))
        dealt[chosen].update(labels[i])
        rows[chosen] += len(groups[i].members)
        numbers[i] = chosen + 1
    return numbers
