"""Answers to the exercises of notebook 06."""

from __future__ import annotations

import math
from typing import Any

import torch


def _top_p(ps: Any, p: float) -> Any:
    kept, total = torch.zeros_like(ps), 0.0
    for place in ps.argsort(descending=True).tolist():
        if total >= p:
            break
        kept[place] = ps[place]
        total += float(ps[place])
    return kept / total


def _one_too_few(ps: Any, p: float) -> Any:
    ordered, places = ps.sort(descending=True)
    kept = torch.zeros_like(ps).scatter(0, places, ordered * (ordered.cumsum(-1) <= p))
    return kept / kept.sum()


def _not_divided(ps: Any, p: float) -> Any:
    return torch.where(_top_p(ps, p) > 0, ps, torch.zeros_like(ps))


def _left_sorted(ps: Any, p: float) -> Any:
    return _top_p(ps.sort(descending=True).values, p)


def _all_above(ps: Any, p: float) -> Any:
    kept = ps * (ps >= (1 - p) * ps.max())
    return kept / kept.sum()


RIGHT: dict[str, Any] = {
    "06.1": lambda log_probs: math.exp(-sum(log_probs) / len(log_probs)),
    "06.2": lambda logits, t: torch.softmax(logits / t, -1),
    "06.3": _top_p,
    "06.4": 13_200_000,
}
WRONG: dict[str, list[Any]] = {
    "06.1": [
        lambda log_probs: math.exp(-sum(log_probs)),
        lambda log_probs: -sum(log_probs) / len(log_probs),
        lambda log_probs: math.exp(sum(log_probs) / len(log_probs)),
        lambda log_probs: sum(math.exp(-p) for p in log_probs) / len(log_probs),
        lambda log_probs: 4,
    ],
    "06.2": [
        lambda logits, t: torch.softmax(logits * t, -1),
        lambda logits, t: torch.softmax(logits, -1) / t,
        lambda logits, t: torch.softmax(logits, -1),
        lambda logits, t: logits / t,
    ],
    "06.3": [_one_too_few, _not_divided, _left_sorted, _all_above],
    "06.4": [26_400_000, 160_000, 33_000, 33_400],
}
