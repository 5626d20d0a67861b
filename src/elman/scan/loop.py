"""The reference: one step after the other. Every other executor must agree with it."""

from __future__ import annotations

from typing import Any

import torch

from elman.cells import Cell
from elman.shapes import Bool, Float, Tensor
from elman.state import S, keep, map_state


def refusal(cell: Cell[Any]) -> str | None:
    """The loop takes every cell."""
    return None


def run(
    cell: Cell[S],
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None,
    state: S,
    reverse: bool,
) -> tuple[Tensor, S]:
    projected = cell.project(xs)
    steps = range(xs.shape[1])
    ys: dict[int, Tensor] = {}
    for t in reversed(steps) if reverse else steps:
        new = cell.step(state, map_state(lambda x, t=t: x[:, t], projected))
        y = cell.output(new)
        if mask is not None:
            new, y = keep(mask[:, t], (new, y), (state, torch.zeros_like(y)))
        state, ys[t] = new, y
    if not ys:
        return xs.new_zeros(xs.shape[0], 0, cell.output_size), state
    return torch.stack([ys[t] for t in steps], dim=1), state
