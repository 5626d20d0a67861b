"""Reinforcement: what earns more than expected becomes likelier (Williams 1992, Ranzato et al. 2016)."""

from __future__ import annotations

from typing import Any

import torch

from elman.decoding.generative import Generative, Scored, Sequences
from elman.objectives.baseline import Baseline, Trial
from elman.objectives.costs import Cost
from elman.objectives.objective import Objective
from elman.objectives.risk import held
from elman.objectives.sampling import Draw, Sampler, as_used, draw, rows_of
from elman.shapes import Bool, Float, Tensor


class Reinforce(Objective):
    """∇L = -(1 - λ) mean over x of E_y[Σ_t A_t ∇ log p(y_t | y_{<t}, x)] + λ ∇MLE,
    A_t = r(y) - b_t - β Σ_{s≥t} log p(y_s | …),  r = -cost.

    That is the gradient of the expected cost less β times the entropy of p(y | x), for any baseline b_t that
    does not depend on y_t. Samples are written and scored without dropout: what another net wrote is not
    likely, and what is not likely and bad would be pushed down without end.
    """

    names = ("cost", "advantage")

    def __init__(
        self,
        cost: Cost,
        baseline: Baseline,
        *,
        samples: int,
        entropy: float = 0.0,
        likelihood: float = 0.0,
        sampler: Sampler = draw,
    ) -> None:
        super().__init__()
        self.cost, self.baseline, self.samples = cost, baseline, samples
        self.entropy, self.share, self.sampler = entropy, likelihood, sampler

    def forward(self, model: Generative[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        drawn = self.sampler(model, batch, self.samples, self.baseline.greedy, None)
        given, scored, rewards, greedy = judged(self.cost, model, batch, drawn)
        trial = Trial(scored.hs, given.mask, rewards, greedy)
        ahead = advantage(trial, self.baseline(trial), scored.log_probs, self.entropy)
        each = surrogate(scored.log_probs, given.mask, ahead)
        loss = (drawn.weights.to(each) * each.view_as(drawn.weights)).sum(1).mean()
        self.note(-rewards.mean(), mean(ahead.abs(), given.mask))
        if not self.share:
            return loss
        return (1 - self.share) * loss + self.share * model.likelihood(batch)


def judged(
    cost: Cost, model: Generative[Any], batch: Any, drawn: Draw
) -> tuple[Sequences, Scored, Float[Tensor, " N"], Float[Tensor, " N"] | None]:
    """The samples, what the model says of them, what they earn, and what the greedy sequences would."""
    given, gold = drawn.samples, model.gold(batch)
    copies = drawn.weights.shape[1]
    written, right = rows_of(given), rows_of(gold)
    beside = None if drawn.greedy is None else rows_of(drawn.greedy)
    with as_used(model.net):
        scored = model.score(batch, given, copies)
    rewards = -held(cost, model, written, right).flatten().to(scored.log_probs)
    if beside is None:
        return given, scored, rewards, None
    best = -held(cost, model, beside, right)[:, 0].to(scored.log_probs)
    return given, scored, rewards, best.repeat_interleave(copies)


def advantage(
    trial: Trial,
    baseline: Float[Tensor, "N T"],
    log_probs: Float[Tensor, "N T"],
    entropy: float,
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


def mean(values: Float[Tensor, "N T"], mask: Bool[Tensor, "N T"]) -> Float[Tensor, ""]:
    return (values * mask).sum() / mask.sum().clamp(min=1)
