"""A small network that an objective trains for itself, beside the net that is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.func import functional_call
from torch.nn.utils import parameters_to_vector

from elman.shapes import Float, Tensor

_DECAY, _SQUARE, _LEAST = 0.9, 0.999, 1e-8  # of Adam


class AuxiliaryNetwork(nn.Module):
    """A module with an Adam of its own (Kingma & Ba 2015).

    Weights and moments are flat buffers: a checkpoint of the net that has them in it holds them, an update
    that is refused is undone for them too, and no other optimizer ever touches them.
    """

    def __init__(self, module: nn.Module, lr: float) -> None:
        super().__init__()
        weights = parameters_to_vector(module.parameters()).detach().clone()
        self.register_buffer("weights", weights)
        self.register_buffer("first", torch.zeros_like(weights))
        self.register_buffer("second", torch.zeros_like(weights))
        self.register_buffer("count", torch.zeros(()))
        self.lr = lr
        self.shapes = {name: p.shape for name, p in module.named_parameters()}
        self._module = (module.to("meta"),)  # in a tuple, lest its parameters be found

    def forward(self, *inputs: Any) -> Any:
        """What it says now; gradients go to the inputs alone."""
        # Of a copy: it may learn before a gradient comes back through what it said.
        return self._call(self.get_buffer("weights").clone(), *inputs)

    def train_step(
        self, loss: Callable[[Callable[..., Any]], Tensor], gate: Float[Tensor, ""] | None = None
    ) -> Float[Tensor, ""]:
        """One step towards a small ``loss(call)``; where ``gate`` is 0, none."""
        with torch.enable_grad():
            weights = self.get_buffer("weights").detach().requires_grad_()
            value = loss(lambda *inputs: self._call(weights, *inputs))
            (gradient,) = torch.autograd.grad(value, weights)
        self._step(mean_over_processes(gradient), torch.ones_like(value) if gate is None else gate)
        return value.detach()

    @torch.no_grad()
    def _step(self, gradient: Tensor, gate: Tensor) -> None:
        names = ("weights", "first", "second", "count")
        weights, first, second, count = (self.get_buffer(name) for name in names)
        count += gate
        first.lerp_(gradient, (1 - _DECAY) * gate)
        second.lerp_(gradient.square(), (1 - _SQUARE) * gate)
        mean = first / (1 - _DECAY ** count.clamp(min=1))
        spread = (second / (1 - _SQUARE ** count.clamp(min=1))).sqrt()
        weights -= gate * self.lr * mean / (spread + _LEAST)

    def _call(self, weights: Tensor, *inputs: Any) -> Any:
        sizes = [shape.numel() for shape in self.shapes.values()]
        pieces = zip(self.shapes.items(), torch.split(weights, sizes), strict=True)
        return functional_call(
            self._module[0], {name: part.view(shape) for (name, shape), part in pieces}, inputs
        )


def mean_over_processes(value: Tensor) -> Tensor:
    """The mean over processes, so that all of them learn the same."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        value = value / torch.distributed.get_world_size()
        torch.distributed.all_reduce(value)
    return value
