"""Dynamic evaluation: the weights follow the text that is read (Krause et al. 2018).

After each short stretch of text, whose tokens were predicted before:

    w ← w - η g / (√m + ε) + λ √m / mean(√m) (w₀ - w)

g is the gradient of the stretch's mean loss, m the mean of g² over the stretches so far, w₀ the trained
weights. The authors take m from the training data; here it comes from the text itself, and nothing is
changed in the first few stretches, so that a model folder and a text are all that is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch

from elman.errors import ConfigError
from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import detach
from elman.tasks.writing.predictor import Reader


@dataclass(frozen=True)
class Dynamic:
    """How fast the weights follow, and how strongly they are drawn back."""

    rate: float = 1e-3  # η
    decay: float = 0.005  # λ
    epsilon: float = 1e-3  # ε
    steps: int = 20  # tokens of a stretch
    warm: int = 10  # stretches that only tell m

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ConfigError(f"steps is {self.steps}; it must be at least 1")
        for name, least in (("rate", 0.0), ("decay", 0.0), ("warm", 0), ("epsilon", 1e-12)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least {least}")


class Adaptation:
    """A copy of a network whose weights change as it reads; the network itself stays as it is.

    So nothing has to be restored, whatever happens, and others may use the network meanwhile.
    """

    def __init__(self, net: Reader, how: Dynamic) -> None:
        self.net, self.how = deepcopy(net), how
        self.net.train(False)
        self.weights: list[Tensor] = [p for p in self.net.parameters() if p.requires_grad]
        self.trained = [p.detach() for p in net.parameters() if p.requires_grad]
        self.squares = [torch.zeros_like(p) for p in self.trained]
        self.seen = 0

    def read(
        self,
        state: Any,
        ids: Int[Tensor, "B T"],
        targets: Int[Tensor, "B T"],
        mask: Bool[Tensor, "B T"],
    ) -> tuple[Any, Float[Tensor, "B T H"], Float[Tensor, "B T"]]:
        """State, outputs and what the targets cost, by the weights as they are; then they change."""
        with torch.enable_grad():
            state, hs = self.net.read(state, ids)
            nats = self.net.output.nats(hs, targets)
            loss = weighted_mean(nats, mask)
            found = torch.autograd.grad(loss, self.weights, allow_unused=True)
        pairs = zip(found, self.weights, strict=True)
        self._change([torch.zeros_like(p) if g is None else g for g, p in pairs])
        return detach(state), hs.detach(), nats.detach()

    @property
    def changed(self) -> bool:
        """Whether it has read more than the stretches that only tell m."""
        return self.seen > self.how.warm

    def follow(self, ids: Sequence[int], first: int, state: Any = None) -> None:
        """Learn from a text to its end, such as what comes before what is to be written.

        ``first`` stands before it; without a state it is the beginning.
        """
        device = self.weights[0].device
        text = torch.tensor([[first, *ids]], device=device)
        state = self.net.begin(1) if state is None else state
        for start in range(0, len(ids), self.how.steps):
            end = min(start + self.how.steps, len(ids))
            x, y = text[:, start:end], text[:, start + 1 : end + 1]
            state, _, _ = self.read(state, x, y, torch.ones_like(y, dtype=torch.bool))

    @torch.no_grad()
    def _change(self, gradients: list[Tensor]) -> None:
        self.seen += 1
        torch._foreach_mul_(self.squares, 1 - 1 / self.seen)
        torch._foreach_addcmul_(self.squares, gradients, gradients, 1 / self.seen)
        if self.seen <= self.how.warm:
            return
        roots = torch._foreach_sqrt(self.squares)
        total = torch.stack([root.sum() for root in roots]).sum().clamp(min=1e-30)
        mean = total / sum(root.numel() for root in roots)
        scales = torch._foreach_add(roots, self.how.epsilon)
        back = roots  # in their memory: most of the time goes into reading and writing
        torch._foreach_mul_(back, self.how.decay / mean)
        torch._foreach_clamp_max_(back, 1.0)
        torch._foreach_lerp_(self.weights, self.trained, back)
        torch._foreach_addcdiv_(self.weights, gradients, scales, -self.how.rate)
