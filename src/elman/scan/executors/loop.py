"""The reference: one step after the other. Every other executor must agree with it."""

from __future__ import annotations

import torch

from elman.cells import Cell
from elman.scan.execution import Execution, Executor
from elman.shapes import Float, Tensor
from elman.state import S, keep, map_state


def run(cell: Cell[S], xs: Float[Tensor, "B T D"], state: S, execution: Execution) -> tuple[Tensor, S]:
    projected, mask = cell.project(xs), execution.mask
    steps = range(xs.shape[1])
    ys: dict[int, Tensor] = {}
    for t in reversed(steps) if execution.reverse else steps:
        new = cell.step(state, map_state(lambda x, t=t: x[:, t], projected))
        y = cell.output(new)
        if mask is not None:
            new, y = keep(mask[:, t], (new, y), (state, torch.zeros_like(y)))
        state, ys[t] = new, y
    if not ys:
        return xs.new_zeros(xs.shape[0], 0, cell.output_size), state
    return torch.stack([ys[t] for t in steps], dim=1), state


LOOP = Executor("loop", run)
