"""MIXER: from likelihood to reward, the last steps first (Ranzato et al. 2016)."""

from __future__ import annotations

from math import floor
from typing import Any

import torch

from elman.decoding.generative import Generative, Sequences
from elman.objectives.baseline import Baseline, Trial
from elman.objectives.costs import Cost
from elman.objectives.objective import Objective
from elman.objectives.reinforce import advantage, judged, surrogate
from elman.objectives.sampling import Sampler, draw
from elman.shapes import Float, Int, Tensor


class Mixer(Objective):
    """Of a sequence with n tokens the first n - k are gold and trained by likelihood; from there on the model
    writes by itself and is trained by reward, that of the whole:

    L = (Σ_{t≤n-k} -log p(y_t) + Σ_{t>n-k} -A_t log p(ŷ_t)) / tokens

    k is 0 until the share ``start`` of the run is done, then Δ, and Δ more after each further share ``every``.
    """

    names = ("cost", "own_steps")

    def __init__(
        self,
        cost: Cost,
        baseline: Baseline,
        *,
        delta: int,
        start: float,
        every: float,
        samples: int = 1,
        entropy: float = 0.0,
        sampler: Sampler = draw,
    ) -> None:
        super().__init__()
        self.cost, self.baseline, self.samples = cost, baseline, samples
        self.delta, self.start, self.every = delta, start, every
        self.entropy, self.sampler = entropy, sampler

    def own_steps(self, progress: float) -> int:
        """How many steps of a sequence, its last ones, are left to the model."""
        if progress < self.start:
            return 0
        # (0.6 - 0.4) / 0.2 is a hair below 1 in binary fractions.
        return self.delta * (1 + floor((progress - self.start) / self.every + 1e-9))

    def forward(self, model: Generative[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        own = self.own_steps(progress)
        if not own:
            return model.likelihood(batch)
        gold = model.gold(batch)
        forced = (gold.mask.sum(1) - own).clamp(min=0)
        drawn = self.sampler(
            model, batch, self.samples, self.baseline.greedy, prefixes(gold, forced)
        )
        given, scored, rewards, greedy = judged(self.cost, model, batch, drawn)
        place = torch.arange(given.mask.shape[1], device=given.mask.device)
        forced = forced.repeat_interleave(drawn.weights.shape[1])
        free = given.mask & (place >= forced[:, None])
        trial = Trial(scored.hs, free, rewards, greedy)
        ahead = advantage(trial, self.baseline(trial), scored.log_probs, self.entropy)
        likely = -torch.where(given.mask & ~free, scored.log_probs, 0).sum(1)
        each = likely + surrogate(scored.log_probs, free, ahead)
        self.note(-rewards.mean(), torch.tensor(float(own)))
        share = drawn.weights.flatten().to(each)
        return (share * each).sum() / (share * given.mask.sum(1)).sum()


def prefixes(gold: Sequences, forced: Int[Tensor, " B"]) -> Int[Tensor, "B T"]:
    """So many tokens of gold, and -1 where the model is free."""
    place = torch.arange(gold.tokens.shape[1], device=gold.tokens.device)
    return gold.tokens.where(place < forced[:, None], -1)
