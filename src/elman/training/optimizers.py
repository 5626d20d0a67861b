"""Optimizers by their settings. NT-ASGD is SGD whose averaging begins when its trigger says so."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from elman.errors import ModelError
from elman.training.settings import Settings


def make_optimizer(net: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer of the parameters that are not frozen; weight decay is for matrices only."""
    parameters = [p for p in net.parameters() if p.requires_grad]
    if not parameters:
        raise ModelError("there is nothing to train: the net has no parameter that is not frozen")
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    lr: float | Tensor = settings.lr
    if settings.graph:  # a recorded update reads its learning rate from the device
        lr = torch.tensor(settings.lr, device=parameters[0].device)
    if settings.optimizer == "adamw":
        betas = (settings.momentum, settings.beta2)
        return torch.optim.AdamW(groups, lr, betas, capturable=settings.graph, fused=True)
    sgd = torch.optim.SGD(groups, lr, settings.momentum, fused=True)
    for p in parameters if settings.momentum else ():
        # Were the first update one that float16's scaler skips, the fused kernel would leave this unset.
        sgd.state[p]["momentum_buffer"] = torch.zeros_like(p)
    return sgd


def set_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Give all parameters a learning rate, where the optimizer reads it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr
