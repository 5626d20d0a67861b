"""How probable a label must be to be given: thresholds with the best F1 on validation data."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from elman.shapes import Bool, Float, Tensor

ENOUGH = 10  # validation examples that have a label; with fewer, it gets the common threshold
FLOOR = 0.1  # below it a label would be given to nearly every text to catch a rare one


def choose_thresholds(
    probabilities: Float[Tensor, "N Y"], right: Bool[Tensor, "N Y"], names: Sequence[str]
) -> tuple[float, dict[str, float]]:
    """A common threshold, which has the best micro-F1, and those of labels that have enough examples.

    A label has its own only where micro-F1 does not fall by it: better labels must not make a worse model.
    """
    common = find_threshold(probabilities.flatten(), right.flatten())
    given, counts, own = probabilities >= common, right.sum(0).tolist(), {}
    hits, total, wanted = int((given & right).sum()), int(given.sum()), sum(counts)
    for i in sorted(range(len(names)), key=lambda i: -counts[i]):
        if counts[i] < ENOUGH:
            break
        cut = find_threshold(probabilities[:, i], right[:, i])
        column = probabilities[:, i] >= cut
        more = int((column & right[:, i]).sum() - (given[:, i] & right[:, i]).sum())
        longer = int(column.sum() - given[:, i].sum())
        if (hits + more) * (total + wanted) >= hits * (total + longer + wanted):
            own[names[i]], hits, total = cut, hits + more, total + longer
    return common, {name: own[name] for name in names if name in own}


def find_threshold(probabilities: Float[Tensor, " N"], right: Bool[Tensor, " N"]) -> float:
    """The threshold with the best F1, half way between two probabilities; of several the nearest to 0.5."""
    if not right.any():
        return 0.5
    p, order = probabilities.double().sort(descending=True)
    hits = right[order].cumsum(0)
    given = torch.arange(1, len(p) + 1, device=p.device)
    f1 = 2 * hits / (given + right.sum())
    below = torch.cat([p[1:], p.new_zeros(1)])
    possible = (p > below) & (p >= FLOOR)
    if not possible.any():
        return FLOOR
    f1 = f1.masked_fill(~possible, -1)
    cuts = ((p + below) / 2).clamp(min=FLOOR)[f1 == f1.max()]
    return float(cuts[(cuts - 0.5).abs().argmin()])
