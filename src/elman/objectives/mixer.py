"""MIXER: from likelihood to reward, the last steps first (Ranzato et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Any, Literal

import torch

from elman.decoding.sequence_model import SequenceModel
from elman.objectives.baseline import Baseline, Trial, build_baseline
from elman.objectives.reinforce import Reinforce, advantage, reward_samples, surrogate
from elman.objectives.sample_sequences import Sampler, draw_samples
from elman.objectives.sequence_costs import COSTS, Cost, CostName
from elman.ranges import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    Probability,
    SampleCount,
    Share,
    check_ranges,
)
from elman.shapes import Float, Tensor


@dataclass(frozen=True)
class MixerConfig:
    """From likelihood to reward, the last steps of a sequence first."""

    kind: Literal["mixer"] = "mixer"
    cost: CostName = "bleu"
    delta: PositiveInt = 2  # steps that the model takes itself at first, and more each time
    start: Probability = 0.0  # share of the run before that
    every: Share = 0.1  # share of the run until more steps follow
    samples: SampleCount = 1  # for each example
    baseline: Literal["greedy", "learned"] = "learned"
    lr: PositiveFloat = 1e-2  # learning rate of a learned baseline
    entropy: NonNegativeFloat = 0.0  # what a nat of entropy is worth

    def __post_init__(self) -> None:
        check_ranges(self)

    def build(self, model: SequenceModel[Any]) -> Mixer:
        """The objective for this model."""
        same = {name: getattr(self, name) for name in ("delta", "start", "every", "samples", "entropy")}
        return Mixer(COSTS[self.cost], build_baseline(self.baseline, model, self.lr), **same)


class Mixer(Reinforce):
    """Of a sequence with n tokens the first n - k are gold and trained by likelihood; from there on the model
    writes by itself and is trained by reward, that of the whole:

    L = (Σ_{t≤n-k} -log p(y_t) + Σ_{t>n-k} -A_t log p(ŷ_t)) / tokens

    k is 0 until the share ``start`` of the run is done, then Δ, and Δ more after each further share ``every``.
    """

    metric_names = ("cost", "own_steps")

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
        sampler: Sampler = draw_samples,
    ) -> None:
        super().__init__(cost, baseline, samples=samples, entropy=entropy, sampler=sampler)
        self.delta, self.start, self.every = delta, start, every

    def own_steps(self, progress: float) -> int:
        """How many steps of a sequence, its last ones, are left to the model."""
        if progress < self.start:
            return 0
        # (0.6 - 0.4) / 0.2 is a hair below 1 in binary fractions.
        return self.delta * (1 + floor((progress - self.start) / self.every + 1e-9))

    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        own = self.own_steps(progress)
        if not own:
            return model.likelihood(batch)
        gold = model.targets(batch)
        forced = (gold.mask.sum(1) - own).clamp(min=0)
        place = torch.arange(gold.mask.shape[1], device=gold.mask.device)
        prefixes = gold.tokens.where(place < forced[:, None], -1)  # beyond them the model is free
        drawn = self.sampler(model, batch, self.samples, self.baseline.greedy, prefixes)
        given, scored, rewards, greedy = reward_samples(self.cost, model, batch, drawn)
        place = torch.arange(given.mask.shape[1], device=given.mask.device)
        forced = forced.repeat_interleave(drawn.weights.shape[1])
        free = given.mask & (place >= forced[:, None])
        trial = Trial(scored.hs, free, rewards, greedy)
        ahead = advantage(trial, self.baseline(trial), scored.log_probs, self.entropy)
        likely = -scored.log_probs.where(~free, 0).sum(1)
        each = likely + surrogate(scored.log_probs, free, ahead)
        self.log(-rewards.mean(), torch.tensor(float(own)))
        share = drawn.weights.flatten().to(each)
        return (share * each).sum() / (share * given.mask.sum(1)).sum()
