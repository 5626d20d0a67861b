"""The computation of one update, in two halves: the gradient, and the change it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from elman.errors import ModelError
from elman.training.settings import Settings
from elman.training.snapshot import Training

B = TypeVar("B")
B_in = TypeVar("B_in", contravariant=True)


class Step(Protocol[B_in]):
    """How an update is computed. Between the halves the gradient can be looked at, and refused."""

    def gradient(self, parts: Sequence[B_in], shares: Tensor, progress: float) -> Tensor:
        """Set the gradients to those of Σ shares · loss(parts), clipped; its value and their norm."""

    def apply(self) -> None:
        """Change the weights."""


class Loss(nn.Module, Generic[B]):
    """The loss as a module around the net, so that what wraps modules can wrap it."""

    def __init__(self, net: nn.Module, loss: Callable[[B, float], Tensor], half: bool) -> None:
        super().__init__()
        self.net = net
        self.loss = loss
        self.half_precision = half

    def forward(self, batch: B, progress: float) -> Tensor:
        if not self.half_precision:
            return self.loss(batch, progress)
        with torch.autocast("cuda", torch.float16):
            return self.loss(batch, progress).float()


class Eager(Generic[B]):
    """The update as PyTorch runs it, operation by operation."""

    def __init__(self, loss: nn.Module, training: Training, clip: float) -> None:
        self.loss = loss
        self.training = training
        self.clip = clip
        self.parameters = [p for p in training.net.parameters() if p.requires_grad]

    def gradient(self, parts: Sequence[B], shares: Tensor, progress: float) -> Tensor:
        self.training.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros_like(shares[0])
        for i, part in enumerate(parts):
            with self._quiet(i < len(parts) - 1):
                loss = self.loss(part, progress) * shares[i]
                self.training.scaler.scale(loss).backward()
            total += loss.detach()
        self.training.scaler.unscale_(self.training.optimizer)
        norm = get_total_norm([p.grad for p in self.parameters if p.grad is not None])
        if self.clip:
            clip_grads_with_norm_(self.parameters, self.clip, norm)
        return torch.stack((total, norm))

    def apply(self) -> None:
        self.training.scaler.step(self.training.optimizer)
        self.training.scaler.update()

    def _quiet(self, more: bool):  # type: ignore[no-untyped-def]
        """Ranks exchange gradients once an update, after its last batch."""
        if more and isinstance(self.loss, DistributedDataParallel):
            return self.loss.no_sync()
        return nullcontext()


def optimizer(net: nn.Module, settings: Settings) -> torch.optim.Optimizer:
    """The optimizer of these settings; weight decay is for matrices only."""
    parameters = [p for p in net.parameters() if p.requires_grad]
    if not parameters:
        raise ModelError("there is nothing to train: all parameters are frozen")
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    # A captured update reads its learning rate from the device.
    lr: float | Tensor = settings.lr
    if settings.graph:
        lr = torch.tensor(settings.lr, device=parameters[0].device)
    if settings.optimizer == "adamw":
        betas = (settings.momentum, 0.999)
        return torch.optim.AdamW(groups, lr, betas, capturable=settings.graph, fused=True)
    return torch.optim.SGD(groups, lr, settings.momentum, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Give all parameters a learning rate, where the optimizer reads it."""
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr


def seed(number: int) -> None:
    """Start PyTorch's random numbers anew, on the CPU and the current GPU."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed(number)
