"""Teacher forcing with probability p (Bengio et al. 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from elman.decoding import AtLengths, Greedy, Mixed, Policy, Sample, Step, unroll
from elman.decoding.generative import Beginning, Generative
from elman.objectives.objective import Objective
from elman.objectives.sampling import dice
from elman.shapes import Float, Int, Tensor
from elman.state import State

_OWN = -1  # in the place of a token: what the model itself expected, as a mixture


class Scheduled(Objective):
    """L = mean of -log p(y_t | ŷ_{<t}), ŷ_t gold with probability p(progress), else what ``other`` says.

    ``other`` is a policy: the model's argmax or a sample of it. Without one it is the mixture of all tokens,
    weighed by their probabilities, and gradients flow through it.
    """

    names = ("forced",)

    def __init__(
        self, p: Callable[[float], float], other: Callable[[Tensor], Policy] | None
    ) -> None:
        super().__init__()
        self.p, self.other = p, other

    def forward(self, model: Generative[Any], batch: Any, progress: float) -> Float[Tensor, ""]:
        p = self.p(progress)
        self.note(torch.tensor(p))
        if p == 1:
            return model.likelihood(batch)  # the same, all steps at once
        gold, begun = model.gold(batch), model.begin(batch)
        draws = dice(gold.tokens.device)
        step, state = softened(begun) if self.other is None else (begun.step, begun.state)
        other: Policy = Own() if self.other is None else self.other(gold.tokens)
        turns = unroll(
            step,
            state,
            Mixed(gold.tokens, p, other, draws),
            start=begun.start,
            stop=AtLengths(gold.mask.sum(1)),
            limit=gold.tokens.shape[1],
        )
        logits = torch.stack([turn.logits for turn in turns], 1)
        return model.criterion(logits, gold)


class Own:
    """Always the mark that stands for the mixture."""

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return torch.full_like(logits[:, 0], _OWN, dtype=torch.long)


def softened(begun: Beginning) -> tuple[Step[State], State]:
    """A step that can be fed its own expectation: the state remembers what the model said last."""

    def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
        inner, logits = begun.blend(state.inner, tokens, state.said.softmax(-1))
        return State(inner=inner, said=logits), logits

    # What was said before the first token is never asked for, but has its shape.
    with torch.no_grad():
        _, like = begun.step(begun.state, begun.start)
    return step, State(inner=begun.state, said=torch.zeros_like(like))


def argmax(like: Tensor) -> Policy:
    return Greedy()


def sampled(like: Tensor) -> Policy:
    return Sample(generator=dice(like.device))


OTHERS: dict[str, Callable[[Tensor], Policy] | None] = {
    "argmax": argmax,
    "sample": sampled,
    "mixture": None,
}
