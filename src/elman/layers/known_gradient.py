"""A loss whose gradient was asked for already: the way back is not gone twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def attach_gradient(loss: Tensor, inputs: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> Tensor:
    """The value of a loss as a function of these inputs, with these gradients of it; None is no gradient.

    Second derivatives are none of its business: they are refused.
    """
    known = [(x, g) for x, g in zip(inputs, gradients, strict=True) if g is not None]
    attached: Tensor = _KnownGradient.apply(loss.detach(), [g for _, g in known], *(x for x, _ in known))  # type: ignore[no-untyped-call]
    return attached


class _KnownGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loss: Tensor, gradients: list[Tensor], *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*gradients)
        return loss.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        return None, None, *(d * g for g in ctx.saved_tensors)
