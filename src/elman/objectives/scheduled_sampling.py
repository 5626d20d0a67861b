"""Teacher forcing with probability p (Bengio et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import Any, Literal

import torch

from elman.decoding import AtLengths, Greedy, Policy, Sample, ScheduledSampling, Step, unroll
from elman.decoding.sequence_model import DecoderStart, SequenceModel
from elman.errors import ConfigError
from elman.objectives.objective import Objective
from elman.objectives.sample_sequences import default_generator
from elman.ranges import Probability, check_ranges
from elman.shapes import Float, Int, Tensor
from elman.state import State

Feedback = Callable[[Tensor], Policy]  # for tokens that tell the device
_MIXTURE = -1  # in the place of a token: all tokens, weighed by the probabilities of the model


@dataclass(frozen=True)
class ScheduledSamplingConfig:
    """Teacher forcing with a probability that falls."""

    kind: Literal["scheduled"] = "scheduled"
    schedule: Literal["constant", "linear", "inverse_sigmoid", "exponential"] = "linear"
    p_start: Probability = 1.0  # probability of the right token when the run begins; constant has none
    p_end: Probability = 0.7  # and when it ends
    feedback: Literal["argmax", "sample", "mixture"] = "sample"  # what is fed back otherwise

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.schedule == "constant" and self.p_start != 1:
            raise ConfigError("p_start is where a schedule begins to fall; a constant one is p_end")
        if self.schedule == "exponential" and not self.p_end:
            raise ConfigError("p_end is 0, which an exponential schedule never reaches")

    def build(self, model: SequenceModel[Any]) -> ScheduledSamplingLoss:
        """The objective for this model."""
        schedule = partial(SCHEDULES[self.schedule], start=self.p_start, end=self.p_end)
        return ScheduledSamplingLoss(schedule, FEEDBACK[self.feedback])


class ScheduledSamplingLoss(Objective):
    """L = mean of -log p(y_t | ŷ_{<t}), ŷ_t the right token with probability p(progress), else ``feedback``.

    ``feedback`` is a policy: the model's argmax or a sample of it. Without one it is the mixture of all tokens,
    weighed by their probabilities, and gradients flow through it.
    """

    metric_names = ("forced",)

    def __init__(self, p: Callable[[float], float], feedback: Feedback | None) -> None:
        super().__init__()
        self.p, self.feedback = p, feedback

    def forward(self, model: SequenceModel[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        p = self.p(progress)
        self.log(torch.tensor(p))
        if p == 1:
            return model.likelihood(batch)  # the same, all steps at once
        gold, begun = model.targets(batch), model.begin(batch)
        step, state = soft_feedback(begun) if self.feedback is None else (begun.step, begun.state)
        other: Policy = feed_mixture if self.feedback is None else self.feedback(gold.tokens)
        policy = ScheduledSampling(gold.tokens, p, other, default_generator(gold.tokens.device))
        ends = AtLengths(gold.mask.sum(1))
        turns = unroll(step, state, policy, start=begun.start, stop=ends, limit=gold.tokens.shape[1])
        logits = torch.stack([turn.logits for turn in turns], 1)
        return model.criterion(logits, gold)


def feed_mixture(position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
    """Always the mark that stands for the mixture."""
    return torch.full_like(logits[:, 0], _MIXTURE, dtype=torch.long)


def soft_feedback(begun: DecoderStart) -> tuple[Step[State], State]:
    """A step that can be fed its own expectation: the state remembers what the model said last."""

    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        inner, logits = begun.blend(state.inner, tokens, state.said.softmax(-1))
        return State(inner=inner, said=logits), logits

    # What was said before the first token is never asked for, but has its shape.
    with torch.no_grad():
        _, like = begun.step(begun.state, begun.start)
    return step, State(inner=begun.state, said=torch.zeros_like(like))


def feed_argmax(like: Tensor) -> Policy:
    """The likeliest token of the model."""
    return Greedy()


def feed_samples(like: Tensor) -> Policy:
    """A token drawn from the model, where the tokens are."""
    return Sample(generator=default_generator(like.device))


FEEDBACK: dict[str, Feedback | None] = {"argmax": feed_argmax, "sample": feed_samples, "mixture": None}

# How p falls while a run goes on, for the share x that is done: the curves of Bengio et al. (2015).
_STEEP = 10.0  # of the inverse sigmoid: how much of the run the fall takes


def inverse_sigmoid(x: float, start: float, end: float) -> float:
    """p = k / (k + e^(i/k)) of the paper, a logistic curve: slow, quick around the middle, slow."""
    high, here, low = (1 / (1 + exp(_STEEP * (at - 0.5))) for at in (0.0, x, 1.0))
    return end + (start - end) * (here - low) / (high - low)


SCHEDULES: dict[str, Callable[..., float]] = {
    "constant": lambda x, start, end: end,
    "linear": lambda x, start, end: start + (end - start) * x,
    "inverse_sigmoid": inverse_sigmoid,
    "exponential": lambda x, start, end: float(start * (end / start) ** x),  # k^i of the paper
}
