"""Minimum risk training (Shen et al. 2016)."""

from __future__ import annotations

from typing import Any

import torch

from elman.decoding.generative import Generative
from elman.objectives.costs import Cost
from elman.objectives.objective import Objective
from elman.objectives.sampling import Sampler, as_used, distinct, draw, joined, rows_of
from elman.shapes import Bool, Float, Tensor


class MinimumRisk(Objective):
    """L = (1 - λ) mean over x of Σ_k Q(y_k) cost(y_k, gold) + λ MLE,  Q(y) = p(y | x)^α / Σ_k p(y_k | x)^α.

    The y_k are the different ones among ``samples`` sequences drawn from the model, and gold itself with
    ``reference`` (a model learns then above all to push down what it writes: Edunov et al. 2018). They are
    written without gradients and scored in one pass, both without dropout.
    """

    names = ("risk", "candidates")

    def __init__(
        self,
        cost: Cost,
        *,
        samples: int,
        alpha: float,
        reference: bool = False,
        likelihood: float = 0.0,
        sampler: Sampler = draw,
    ) -> None:
        super().__init__()
        self.cost, self.samples, self.alpha = cost, samples, alpha
        self.reference, self.share, self.sampler = reference, likelihood, sampler

    def forward(self, model: Generative[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        gold = model.gold(batch)
        examples = len(gold.tokens)
        found = self.sampler(model, batch, self.samples, False, None).samples
        if self.reference:
            found = joined(gold, found, examples)
        different = distinct(found, examples)
        written, right = rows_of(found), rows_of(gold)
        # Scored first: a GPU computes that while the CPU counts n-grams.
        with as_used(model.net):
            scores = model.score(batch, found, different.shape[1]).log_probs.sum(1)
        costs = held(self.cost, model, written, right).to(scores)
        risk = expected(scores.view_as(different), costs, different, self.alpha).mean()
        self.note(risk, different.sum(1).float().mean())
        if not self.share:
            return risk
        return (1 - self.share) * risk + self.share * model.likelihood(batch)


def expected(
    scores: Float[Tensor, "B K"],
    costs: Float[Tensor, "B K"],
    kept: Bool[Tensor, "B K"],
    alpha: float,
) -> Float[Tensor, " B"]:
    """Σ_k Q_k cost_k over the candidates that are kept, from log p(y_k | x)."""
    sharp = (alpha * scores).masked_fill(~kept, -torch.inf)
    return (sharp.softmax(1) * costs).sum(1)


def held(
    cost: Cost, model: Generative[Any], written: list[list[int]], right: list[list[int]]
) -> Float[Tensor, "B K"]:
    """What each of some outputs costs; as many for each reference."""
    words, count = model.words(written), len(written) // len(right)
    outputs = [words[i : i + count] for i in range(0, len(words), count)]
    return torch.tensor(cost(outputs, model.words(right)), dtype=torch.float32)
