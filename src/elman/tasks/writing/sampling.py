"""How to draw tokens, said without a generator."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from elman.decoding import Sample


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Tokens drawn from the model after temperature, top-k, top-p and min-p, in this order.

    The same seed writes the same text, on every device; without one each call draws anew.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    seed: int | None = None

    def policy(self) -> Sample:
        """The policy, its dice thrown from the seed."""
        generator = torch.Generator()
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        return Sample(
            generator=generator,
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
        )
