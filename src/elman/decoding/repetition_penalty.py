"""The repetition penalty: what stands in the text already becomes less likely (Keskar et al. 2019, CTRL)."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from elman.decoding.interfaces import History
from elman.ranges import PositiveFloat, check_ranges
from elman.shapes import Float, Tensor


@dataclass(frozen=True)
class RepetitionPenalty:
    """Each token of the prompt or of the row: logit / θ where it is positive, logit · θ where it is negative.

    Above 1 it discourages repetition, below 1 it encourages it, as in Hugging Face. It works on the logits of a
    policy and on the log-probabilities of a beam, which ranks by what it leaves of them.
    """

    penalty: PositiveFloat  # θ
    prompt: tuple[int, ...] = ()  # what was read before, the same for all rows

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        prompt = torch.tensor(self.prompt, dtype=torch.long, device=logits.device)
        seen = torch.cat([prompt.expand(len(logits), -1), written.tokens.to(logits.device)], 1)
        old = logits.gather(1, seen)
        return logits.scatter(1, seen, torch.where(old < 0, old * self.penalty, old / self.penalty))
