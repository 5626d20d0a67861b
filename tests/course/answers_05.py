"""Answers to the exercises of notebook 05."""

from __future__ import annotations

from typing import Any

import torch


def _both(ahead: Any, back: Any, xs: Any) -> Any:
    return torch.cat([ahead(xs), back(xs.flip(1)).flip(1)], dim=-1)


def _not_turned_back(ahead: Any, back: Any, xs: Any) -> Any:
    return torch.cat([ahead(xs), back(xs.flip(1))], dim=-1)


def _never_turned(ahead: Any, back: Any, xs: Any) -> Any:
    return torch.cat([ahead(xs), back(xs)], dim=-1)


def _added(ahead: Any, back: Any, xs: Any) -> Any:
    return ahead(xs) + back(xs.flip(1)).flip(1)


def _backward_first(ahead: Any, back: Any, xs: Any) -> Any:
    return torch.cat([back(xs.flip(1)).flip(1), ahead(xs)], dim=-1)


def _ends(ys: Any, mask: Any) -> Any:
    ahead, back = ys.chunk(2, dim=-1)
    return torch.cat([ahead[torch.arange(len(ys)), mask.sum(1) - 1], back[:, 0]], dim=-1)


def _last_column(ys: Any, mask: Any) -> Any:
    return ys[:, -1]


def _padding_read(ys: Any, mask: Any) -> Any:
    ahead, back = ys.chunk(2, dim=-1)
    return torch.cat([ahead[:, -1], back[:, 0]], dim=-1)


def _last_word(ys: Any, mask: Any) -> Any:
    return ys[torch.arange(len(ys)), mask.sum(1) - 1]


def _one_too_far(ys: Any, mask: Any) -> Any:
    ahead, back = ys.chunk(2, dim=-1)
    return torch.cat([ahead[torch.arange(len(ys)), mask.sum(1) - 2], back[:, 0]], dim=-1)


RIGHT: dict[str, Any] = {"05.1": _both, "05.2": {"a", "c", "e"}, "05.3": (128, 64), "05.4": _ends}
WRONG: dict[str, list[Any]] = {
    "05.1": [_not_turned_back, _never_turned, _added, _backward_first],
    "05.2": [{"a", "b", "e"}, {"a", "e"}, set("abcde"), {"c"}],
    "05.3": [(64, 64), (128, 32), (100, 64), (64, 32), (128, 128)],
    "05.4": [_last_column, _padding_read, _last_word, _one_too_far],
}
