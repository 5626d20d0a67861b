"""Reinforcement: what earns more than expected becomes likelier (Williams 1992, Ranzato et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch

from elman.decoding.sequence_model import SequenceModel, Sequences, SequenceScores
from elman.objectives.baseline import Baseline, Trial, build_baseline
from elman.objectives.objective import Objective
from elman.objectives.risk import measure_costs
from elman.objectives.sample_sequences import SampleBatch, Sampler, draw_samples, unpad
from elman.objectives.sequence_costs import COSTS, Cost, CostName
from elman.ranges import NonNegativeFloat, PositiveFloat, Probability, SampleCount, check_ranges
from elman.shapes import Bool, Float, Tensor
from elman.state import eval_mode


@dataclass(frozen=True)
class ReinforceConfig:
    """Reward for what is better than expected."""

    kind: Literal["reinforce"] = "reinforce"
    cost: CostName = "bleu"
    samples: SampleCount = 4  # for each example
    baseline: Literal["greedy", "learned"] = "greedy"
    lr: PositiveFloat = 1e-2  # learning rate of a learned baseline
    entropy: NonNegativeFloat = 0.0  # what a nat of entropy is worth
    likelihood: Probability = 0.0  # share of the loss that is maximum likelihood

    def __post_init__(self) -> None:
        check_ranges(self)

    def build(self, model: SequenceModel[Any]) -> Reinforce:
        """The objective for this model."""
        baseline = build_baseline(self.baseline, model, self.lr)
        return Reinforce(
            COSTS[self.cost], baseline, samples=self.samples, entropy=self.entropy, likelihood=self.likelihood
        )


class Reinforce(Objective):
    """∇L = -(1 - λ) mean over x of E_y[Σ_t A_t ∇ log p(y_t | y_{<t}, x)] + λ ∇MLE,
    A_t = r(y) - b_t - β Σ_{s≥t} log p(y_s | …),  r = -cost.

    That is the gradient of the expected cost less β times the entropy of p(y | x), for any baseline b_t that
    does not depend on y_t. Samples are written and scored without dropout: what another net wrote is not
    likely, and what is not likely and bad would be pushed down without end.
    """

    metric_names = ("cost", "advantage")

    def __init__(
        self,
        cost: Cost,
        baseline: Baseline,
        *,
        samples: int,
        entropy: float = 0.0,
        likelihood: float = 0.0,
        sampler: Sampler = draw_samples,
    ) -> None:
        super().__init__()
        self.cost, self.baseline, self.samples = cost, baseline, samples
        self.entropy, self.share, self.sampler = entropy, likelihood, sampler

    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        drawn = self.sampler(model, batch, self.samples, self.baseline.greedy, None)
        given, scored, rewards, greedy = reward_samples(self.cost, model, batch, drawn)
        trial = Trial(scored.hs, given.mask, rewards, greedy)
        ahead = advantage(trial, self.baseline(trial), scored.log_probs, self.entropy)
        each = surrogate(scored.log_probs, given.mask, ahead)
        loss = (drawn.weights.to(each) * each.view_as(drawn.weights)).sum(1).mean()
        self.log(-rewards.mean(), (ahead.abs() * given.mask).sum() / given.mask.sum().clamp(min=1))
        if not self.share:
            return loss
        return (1 - self.share) * loss + self.share * model.likelihood(batch)


def reward_samples(
    cost: Cost, model: SequenceModel[Any], batch: Any, drawn: SampleBatch
) -> tuple[Sequences, SequenceScores, Float[Tensor, " N"], Float[Tensor, " N"] | None]:
    """The samples, what the model says of them, what they earn, and what the greedy sequences would."""
    given, gold = drawn.samples, model.targets(batch)
    copies = drawn.weights.shape[1]
    written, right = unpad(given), unpad(gold)
    beside = None if drawn.greedy is None else unpad(drawn.greedy)
    with eval_mode(model.net):
        scored = model.score(batch, given, copies)
    rewards = -measure_costs(cost, model, written, right).flatten().to(scored.log_probs)
    if beside is None:
        return given, scored, rewards, None
    best = -measure_costs(cost, model, beside, right)[:, 0].to(scored.log_probs)
    return given, scored, rewards, best.repeat_interleave(copies)


def advantage(
    trial: Trial, baseline: Float[Tensor, "N T"], log_probs: Float[Tensor, "N T"], entropy: float
) -> Float[Tensor, "N T"]:
    """r - b_t - β Σ_{s≥t} log p(y_s): better than expected, and what was not to be expected."""
    ahead = trial.rewards[:, None] - baseline.to(trial.rewards)
    if not entropy:
        return ahead
    own = log_probs.detach() * trial.free
    return ahead - entropy * own.flip(1).cumsum(1).flip(1)


def surrogate(
    log_probs: Float[Tensor, "N T"], free: Bool[Tensor, "N T"], ahead: Float[Tensor, "N T"]
) -> Float[Tensor, " N"]:
    """What has the gradient -Σ_t A_t ∇ log p(y_t | …) over the tokens that the model chose."""
    return -(ahead.detach() * torch.where(free, log_probs, 0)).sum(1)
