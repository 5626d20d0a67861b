"""How far the error travels back: the norm of dL/ds_t against t."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from elman.cells import Cell
from elman.shapes import Float, Tensor
from elman.state import leaves, map_state


def gradient_norms(
    cell: Cell[Any], xs: Float[Tensor, "B T D"], *, seed: int = 0
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """‖dL/ds_t‖ for t = 0 … n, meaned over the batch, in float64.

    L is the last output in a random direction of unit length, drawn from ``seed``: what any loss on y_n
    sends back. A curve that falls towards t = 0 vanishes, one that rises explodes.
    """
    cell, dtype = cell.double(), next(cell.parameters()).dtype
    try:
        xs = xs.detach().double()
        cell = cell.draw(xs)
        projected = cell.project(xs)
        states = [map_state(lambda s: s.requires_grad_(), cell.initial(xs))]
        for t in range(xs.shape[1]):
            states.append(cell.step(states[-1], map_state(lambda x, t=t: x[:, t], projected)))
        y = cell.output(states[-1])
        direction = torch.randn(y.shape, generator=torch.Generator().manual_seed(seed)).to(y)
        loss = (y * direction / direction.norm(dim=-1, keepdim=True)).sum()
        parts = [[tensor for _, tensor in leaves(state)] for state in states]
        flat = [tensor for tensors in parts for tensor in tensors]
        found = iter(torch.autograd.grad(loss, flat, allow_unused=True))
        norms = []
        for tensors in parts:
            each = [g for g in (next(found) for _ in tensors) if g is not None]
            norms.append(torch.cat(each, -1).norm(dim=-1).mean().item() if each else 0.0)
        return np.array(norms)
    finally:
        cell.to(dtype)
