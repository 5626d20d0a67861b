"""A running mean of weights, to evaluate and to deliver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import expm1, log

import torch
from torch import Tensor, nn

from elman.kernels.many_tensors import move_towards


class WeightAverage:
    """w̄ₙ = Σᵢ dⁿ⁻ⁱ wᵢ / Σᵢ dⁿ⁻ⁱ over the n weights it has seen; d = 1 is the plain mean.

    Kept as w̄ₙ = w̄ₙ₋₁ + (wₙ - w̄ₙ₋₁) / Σᵢ dⁿ⁻ⁱ. The weights before training do not count.
    """

    def __init__(self, net: nn.Module, decay: float) -> None:
        self.decay = decay
        self.count = 0
        self.weights = {name: p.detach().clone() for name, p in net.named_parameters()}
        self._seen: tuple[nn.Module, dict[str, nn.Parameter]] = (net, dict(net.named_parameters()))

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        """See the weights of ``net`` once more."""
        self.count += 1
        d = log(self.decay)
        total = expm1(d * self.count) / expm1(d) if d else self.count
        if net is not self._seen[0]:
            self._seen = (net, dict(net.named_parameters()))
        latest: list[Tensor] = [self._seen[1][name] for name in self.weights]  # which may stand in any order
        move_towards(list(self.weights.values()), latest, 1 / total)

    @contextmanager
    def swap_into(self, net: nn.Module) -> Iterator[None]:
        """Within it ``net`` has the mean for its weights, or its own where nothing was seen yet."""
        own = {name: p.detach().clone() for name, p in net.named_parameters()}
        if self.count:
            load_weights(net, self.weights)
        try:
            yield
        finally:
            load_weights(net, own)


def tensors_by_name(net: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers, those too that ``state_dict`` leaves out, as a carried state."""
    return {name: t.detach() for name, t in (*net.named_parameters(), *net.named_buffers())}


@torch.no_grad()
def load_weights(net: nn.Module, values: dict[str, Tensor]) -> None:
    """Copy values into the parameters and buffers of these names, where they lie in memory."""
    own = tensors_by_name(net)
    for name, value in values.items():
        own[name].copy_(value)
