"""log Z by matrix products (the scaled forward algorithm, Rabiner 1989): exact where no move is too unlikely.

With E = exp(moves) and X = exp(xs), each up to a factor, f_i = (f_{i-1} E) ⊙ X_i is what all ways to a tag
add up to. A tag so much worse than the best one that f is zero is lost, and so are the ways on from it; but
every tag can be reached from the best one too, and if moves differ by less than ``RANGE``, that way is worth
e^20 times all that was lost, or more, whatever the scores.
"""

from __future__ import annotations

from typing import Any

import torch

from elman.layers.crf.chain import ChainCell
from elman.scan import scan
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Tensor

RANGE = 50.0


def worthwhile(moves: Float[Tensor, "Z Z"]) -> bool:
    """Whether the moves are near enough to each other; on the CPU only, where asking is free."""
    return moves.device.type == "cpu" and bool(moves.amax() - moves.amin() < RANGE)


class _Ahead(ChainCell):
    """f_i = (f_{i-1} / max f_{i-1}) E ⊙ X_i; its moves are E."""

    def project(self, x: Tensor) -> Tensor:
        return (x - x.amax(-1, keepdim=True)).exp()

    def step(self, state: Tensor, x: Tensor) -> Tensor:
        return (state / state.amax(1, keepdim=True)) @ self.moves * x


class _Back(ChainCell):
    """p_{i-1} = f_{i-1} ⊙ E (p_i / f_{i-1} E): from p(y_i) to p(y_{i-1}), reading f_{i-1}."""

    def project(self, x: Tensor) -> Any:
        return x, 1 / (x @ self.moves)

    def step(self, state: Tensor, x: tuple[Tensor, Tensor]) -> Tensor:
        f, scale = x
        return f * ((state * scale) @ self.moves.T)


def sum_scaled(xs: Float[Tensor, "B L Z"], moves: Float[Tensor, "Z Z"]) -> tuple[Tensor, Tensor, Tensor]:
    """log Z in float64, every f relative to the largest of its place, and E."""
    top = moves.amax()
    cell = _Ahead((moves - top).exp())
    with torch.autocast(xs.device.type, enabled=False):
        f, _ = scan(cell, xs, executor="loop")
    peak = f.amax(2, keepdim=True)
    total = (peak.log()[..., 0] + xs.amax(2) + top).sum(1, dtype=torch.float64)
    return total, f / peak, cell.moves


class ScaledLogPartition(torch.autograd.Function):
    """log Z; its gradient is the posterior, as that of the exact one."""

    @staticmethod
    def forward(ctx: Any, xs: Tensor, moves: Tensor) -> Tensor:
        total, f, E = sum_scaled(xs, moves)
        ctx.save_for_backward(xs, moves, f, E)
        return total

    @staticmethod
    def backward(ctx: Any, weight: Tensor) -> tuple[Tensor | None, ...]:
        xs, moves, f, E = ctx.saved_tensors
        if torch.is_grad_enabled():
            return differentiate_plainly(lambda *chain: sum_scaled(*chain)[0], (xs, moves), (weight,))
        cell = _Back(E)
        end = cell.initial(f)[:, None]
        before = torch.cat([end, f[:, :-1]], 1)  # at both ends stands the boundary
        with torch.autocast(f.device.type, enabled=False):
            ys, _ = scan(cell, before, reverse=True, executor="loop")
            p = torch.cat([ys[:, 1:], end], 1) * weight.to(f.dtype)[:, None, None]
            _, scale = cell.project(before)
            made = E * (before.flatten(0, 1).T @ (p * scale).flatten(0, 1))
        return p, made
