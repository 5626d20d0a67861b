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
from typing import Annotated, Any

import torch

from elman.generation.predictor import LMNetwork
from elman.ranges import NonNegativeFloat, NonNegativeInt, PositiveInt, Range, check_ranges
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import detach


@dataclass(frozen=True)
class DynamicEval:
    """How fast the weights follow, and how strongly they are drawn back."""

    rate: NonNegativeFloat = 1e-3  # η
    decay: NonNegativeFloat = 0.005  # λ
    epsilon: Annotated[float, Range(1e-12)] = 1e-3  # ε
    steps: PositiveInt = 20  # tokens of a stretch
    warm: NonNegativeInt = 10  # stretches that only tell m

    def __post_init__(self) -> None:
        check_ranges(self)


class Adaptation:
    """A copy of a network whose weights change as it reads; the network itself stays as it is.

    So nothing has to be restored, whatever happens, and others may use the network meanwhile.
    """

    def __init__(self, net: LMNetwork, config: DynamicEval) -> None:
        self.net, self.config = deepcopy(net), config
        self.net.train(False)
        self.weights: list[Tensor] = [p for p in self.net.parameters() if p.requires_grad]
        self.trained = [p.detach() for p in net.parameters() if p.requires_grad]
        self.squares = [torch.zeros_like(p) for p in self.trained]
        self.seen = 0

    def read(
        self, state: Any, ids: Int[Tensor, "B T"], targets: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> tuple[Any, Float[Tensor, "B T H"], Float[Tensor, "B T"]]:
        """State, outputs and what the targets cost, by the weights as they are; then they change."""
        with torch.enable_grad():
            state, hs = self.net.read(state, ids)
            nll = self.net.output.nll(hs, targets)
            weights = mask.to(nll.dtype)
            loss = (nll * weights).sum() / weights.sum()
            gradients = torch.autograd.grad(loss, self.weights, materialize_grads=True)
        self._change(list(gradients))
        return detach(state), hs.detach(), nll.detach()

    def follow(self, ids: Sequence[int], first: int, state: Any = None) -> None:
        """Learn from a whole text, before which ``first`` stands; without a state it is the beginning."""
        text = torch.tensor([[first, *ids]], device=self.weights[0].device)
        state = self.net.begin(1) if state is None else state
        for start in range(0, len(ids), self.config.steps):
            end = min(start + self.config.steps, len(ids))
            x, y = text[:, start:end], text[:, start + 1 : end + 1]
            state, _, _ = self.read(state, x, y, torch.ones_like(y, dtype=torch.bool))

    @torch.no_grad()
    def _change(self, gradients: list[Tensor]) -> None:
        self.seen += 1
        torch._foreach_mul_(self.squares, 1 - 1 / self.seen)
        torch._foreach_addcmul_(self.squares, gradients, gradients, 1 / self.seen)
        if self.seen <= self.config.warm:
            return
        roots = torch._foreach_sqrt(self.squares)
        total = torch.stack([root.sum() for root in roots]).sum().clamp(min=1e-30)
        mean = total / sum(root.numel() for root in roots)
        scales = torch._foreach_add(roots, self.config.epsilon)
        back = roots  # in their memory: most of the time goes into reading and writing
        torch._foreach_mul_(back, self.config.decay / mean)
        torch._foreach_clamp_max_(back, 1.0)
        torch._foreach_lerp_(self.weights, self.trained, back)
        torch._foreach_addcdiv_(self.weights, gradients, scales, -self.config.rate)
