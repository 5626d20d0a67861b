"""A tenth of the examples, held out to validate on: no text on both sides, every label with its share."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from elman.errors import DataError
from elman.tasks.config import DataConfig
from elman.text.duplicates import group_duplicates, normal_form


class Split(NamedTuple):
    """Examples to train on and to validate on, and how many are duplicates of one before them."""

    training: list[Any]
    held: list[Any]
    duplicates: int = 0


class Group(NamedTuple):
    """Numbers of examples that are duplicates of each other, and the labels that they have."""

    members: list[int]
    labels: tuple[str, ...]


def hold_out(
    examples: list[Any],
    data: DataConfig,
    content: Callable[[Any], str],
    strata: Callable[[Any], tuple[str, ...]],
) -> Split:
    """All but a share of the examples, and these, drawn at random but always the same.

    Examples whose ``content`` is alike stay together. Of each label that ``strata`` names, the share is held
    out as nearly as whole groups allow, but never all that has it; where that leaves nothing, it is said.
    """
    if not data.holdout:
        return Split(examples, [])
    groups = group_examples(examples, content, strata)
    duplicates = len(examples) - len(groups)
    held = {i for group in _draw(groups, data.holdout) for i in group.members}
    if len(examples) == 1:
        raise DataError(f"{data.train}: too few examples (1) to hold any out")
    if not held:
        warnings.warn(
            f"{data.train}: nothing can be held out of {len(examples):,} examples, {duplicates:,} of them "
            "duplicates, so the model is not validated; give a file to validate on",
            stacklevel=3,
        )
    kept = [e for i, e in enumerate(examples) if i not in held]
    return Split(kept, [examples[i] for i in sorted(held)], duplicates)


def group_examples(
    examples: Sequence[Any], content: Callable[[Any], str], strata: Callable[[Any], tuple[str, ...]]
) -> list[Group]:
    """Examples whose contents are duplicates of each other, together."""
    members: dict[int, list[int]] = {}
    for i, number in enumerate(group_duplicates(map(content, examples))):
        members.setdefault(number, []).append(i)
    labels = (dict.fromkeys(label for i in some for label in strata(examples[i])) for some in members.values())
    return [Group(*pair) for pair in zip(members.values(), map(tuple, labels), strict=True)]


def _draw(groups: Sequence[Group], share: float) -> list[Group]:
    """Groups with at most the share of all rows; those of rare labels first, while there is a choice."""
    labels = [group.labels or ("",) for group in groups]
    counts = Counter(label for some in labels for label in some)
    quotas, rows = _quotas(counts, share), max(1, int(share * sum(len(g.members) for g in groups)))
    order = np.random.default_rng(0).permutation(len(groups)).tolist()
    order.sort(key=lambda i: min(counts[label] for label in labels[i]))
    held = []
    for i in order:
        size = len(groups[i].members)
        if size <= rows and all(quotas[label] for label in labels[i]):
            held.append(groups[i])
            rows -= size
            quotas.subtract(labels[i])
    if held:
        return held
    free = [groups[i] for i in order if all(counts[label] > 1 for label in labels[i])]
    return [min(free, key=lambda group: len(group.members))] if free else []


def _quotas(counts: Mapping[str, int], share: float) -> Counter[str]:
    """How many groups of each label to hold out: its share, rounded so that the sum is right; never all."""
    quotas = Counter({label: min(int(count * share), count - 1) for label, count in counts.items()})
    left = max(1, int(sum(counts.values()) * share)) - quotas.total()
    rest = {
        label: counts[label] * share - quotas[label] for label in counts if quotas[label] + 1 < counts[label]
    }
    for label in sorted(rest, key=lambda label: -rest[label])[:left]:
        quotas[label] += 1
    return quotas


def warn_of_overlap(training: Iterable[str], others: Mapping[str, Iterable[str]]) -> None:
    """Say how many texts to judge by are trained on, too, of each set that is named."""
    given = {name: forms for name, texts in others.items() if (forms := [*map(normal_form, texts)])}
    known = set(map(normal_form, training)) if given else set()
    for name, forms in given.items():
        if shared := sum(form in known for form in forms):
            stand = "also stands" if shared == 1 else "also stand"
            which = f"{shared:,} of {len(forms):,} {name} texts {stand} in the training data"
            warnings.warn(f"{which}: scores on them are too good", stacklevel=3)
