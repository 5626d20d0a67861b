"""What a baseline chooses its settings by: the corpus' validation data, or a tenth of its training data."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from baselines import BenchSet

T = TypeVar("T")
SMALL = 1000


def make_splits(
    corpus: BenchSet, read: Callable[[Path], list[T]], label: Callable[[T], Hashable]
) -> list[tuple[list[T], list[T]]]:
    """Pairs of examples to fit on and examples to choose by.

    One pair, from the validation data or a tenth of the training data; of fewer than `SMALL` examples without
    validation data, five, so that all of them are judged once. Labels keep their shares.
    """
    train = read(corpus.train)
    if corpus.valid:
        return [(train, read(corpus.valid))]
    shuffled = random.Random(0).sample(range(len(train)), len(train))
    by_label = sorted(shuffled, key=lambda i: str(label(train[i])))
    folds = 5 if len(train) < SMALL else 10
    held = [set(by_label[fold::folds]) for fold in range(5 if folds == 5 else 1)]
    # What is kept stays in its order: some systems learn worse from examples that are sorted by label.
    return [([e for i, e in enumerate(train) if i not in some], [train[i] for i in some]) for some in held]


def split_columns(rows: Sequence[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """The first and the second of each row."""
    return [one for one, _ in rows], [other for _, other in rows]
