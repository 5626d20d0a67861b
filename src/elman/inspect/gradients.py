"""How far the error travels back: the norm of dL/ds_t against t."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from elman.cells import Cell
from elman.scan import check
from elman.shapes import Float, Tensor
from elman.state import leaves, map_state

Norms = npt.NDArray[np.float64]


def gradient_norms(cell: Cell[Any], xs: Float[Tensor, "B T D"], *, seed: int = 0) -> Norms:
    """‖dL/ds_t‖ for t = 0 … n, meaned over the batch, in float64.

    L is the last output in a random direction of unit length, drawn from ``seed``: what any loss on y_n
    sends back. A curve that falls towards t = 0 vanishes, one that rises explodes.
    """
    check(cell, xs, None, cell.initial(xs))
    dtype = next(cell.parameters()).dtype
    try:
        xs = xs.detach().double()
        drawn = cell.double().sample_masks(xs)
        projected = drawn.project(xs)
        states = [map_state(lambda s: s.requires_grad_(), drawn.initial(xs))]
        for t in range(xs.shape[1]):
            new = drawn.step(states[-1], map_state(lambda x, t=t: x[:, t], projected))
            # Views: the gradient of c_t must not count its way through h_t, which is a part of s_t.
            states.append(map_state(lambda s: s.view_as(s), new))
        y = drawn.output(states[-1])
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
