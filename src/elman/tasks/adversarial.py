"""Adversarial training: the loss at the words x of a text, and at words that are moved for the worst."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from elman.layers.known_gradient import attach_gradient
from elman.shapes import Bool, Float, Tensor


def adversarial_loss(
    net: nn.Module,
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"],
    share: float,
    loss_at: Callable[[Tensor], Tensor],
) -> Tensor:
    """The mean of L(x) and L(x + ε |x| g / |g|), where g = ∂L/∂x and ε is the share (Miyato et al. 2017).

    The gradient of L(x) that g is a part of is kept for the way back, which so is gone only once for each.
    """
    start, weights = xs.detach().requires_grad_(), [p for p in net.parameters() if p.requires_grad]
    loss = loss_at(start)
    g, *gradients = torch.autograd.grad(loss, [start, *weights], allow_unused=True)
    norms = [(v.detach() * mask[..., None]).flatten(1).norm(dim=1)[:, None, None] for v in (xs, g)]
    worst = xs + share * norms[0] * g / norms[1].clamp(min=1e-12)
    return (attach_gradient(loss, [xs, *weights], [g, *gradients]) + loss_at(worst)) / 2
