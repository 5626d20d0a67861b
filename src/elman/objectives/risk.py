"""Minimum risk training (Shen et al. 2016)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch

from elman.decoding.sequence_model import SequenceModel
from elman.errors import ConfigError
from elman.objectives.objective import Objective
from elman.objectives.sample_sequences import Sampler, concat_sequences, draw_samples, first_occurrences, unpad
from elman.objectives.sequence_costs import COSTS, Cost, CostName
from elman.ranges import PositiveFloat, Probability, SampleCount, check_ranges
from elman.shapes import Float, Tensor
from elman.state import eval_mode


@dataclass(frozen=True)
class RiskConfig:
    """The expected cost of what the model would write."""

    kind: Literal["risk"] = "risk"
    cost: CostName = "bleu"
    samples: SampleCount = 8  # for each example
    sharpness: PositiveFloat = 0.5  # 1 weighs candidates by probability, 0 all alike
    temperature: PositiveFloat = 0.6  # at which candidates are drawn; 1: as the model has it
    reference: bool = False  # the right answer is a candidate, too
    likelihood: Probability = 0.0  # share of the loss that is maximum likelihood

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.samples + self.reference < 2:
            raise ConfigError("samples is 1, with nothing to compare it with: take 2, or reference")

    def build(self, model: SequenceModel[Any]) -> MinimumRisk:
        """The objective for this model."""
        same = {name: getattr(self, name) for name in ("samples", "sharpness", "reference", "likelihood")}
        sampler = partial(draw_samples, temperature=self.temperature)
        return MinimumRisk(COSTS[self.cost], sampler=sampler, **same)


class MinimumRisk(Objective):
    """L = (1 - λ) mean over x of Σ_k Q(y_k) cost(y_k, gold) + λ MLE,  Q(y) = p(y | x)^α / Σ_k p(y_k | x)^α.

    The y_k are the different ones among ``samples`` sequences drawn from the model, and gold itself with
    ``reference`` (a model learns then above all to push down what it writes: Edunov et al. 2018). They are
    written without gradients and scored in one pass, both without dropout.
    """

    metric_names = ("risk", "candidates")

    def __init__(
        self,
        cost: Cost,
        *,
        samples: int,
        sharpness: float,
        reference: bool = False,
        likelihood: float = 0.0,
        sampler: Sampler = draw_samples,
    ) -> None:
        super().__init__()
        self.cost, self.samples, self.sharpness = cost, samples, sharpness
        self.reference, self.share, self.sampler = reference, likelihood, sampler

    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        gold = model.targets(batch)
        examples = len(gold.tokens)
        found = self.sampler(model, batch, self.samples, False, None).samples
        if self.reference:
            found = concat_sequences(gold, found, examples)
        different = first_occurrences(found, examples)
        written, right = unpad(found), unpad(gold)
        # Scored first: a GPU computes that while the CPU counts n-grams.
        with eval_mode(model.net):
            scores = model.score(batch, found, different.shape[1]).log_probs.sum(1)
        costs = measure_costs(self.cost, model, written, right).to(scores)
        sharp = (self.sharpness * scores.view_as(different)).masked_fill(~different, -torch.inf)
        risk = (sharp.softmax(1) * costs).sum(1).mean()
        self.log(risk, different.sum(1).float().mean())
        if not self.share:
            return risk
        return (1 - self.share) * risk + self.share * model.likelihood(batch)


def measure_costs(
    cost: Cost, model: SequenceModel[Any], written: list[list[int]], right: list[list[int]]
) -> Float[Tensor, "B K"]:
    """What each of some outputs costs, as many for each reference; of equal ones it is found out once."""
    count = len(written) // len(right)
    numbers: dict[tuple[int, tuple[int, ...]], int] = {}
    which = [numbers.setdefault((i // count, tuple(row)), len(numbers)) for i, row in enumerate(written)]
    outputs: list[list[Sequence[Hashable]]] = [[] for _ in right]
    for (reference, _), words in zip(numbers, model.words([row for _, row in numbers]), strict=True):
        outputs[reference].append(words)
    each = [value for some in cost(outputs, model.words(right)) for value in some]
    return torch.tensor([each[i] for i in which], dtype=torch.float32).view(len(right), count)
