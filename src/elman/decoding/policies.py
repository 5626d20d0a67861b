"""What is fed back: the gold token, the likeliest, a drawn one, or now this and now that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from elman.cuda_graph import is_recording
from elman.decoding.interfaces import Policy
from elman.decoding.stable_topk import stable_topk
from elman.errors import ModelError, check_option
from elman.ranges import PositiveFloat, PositiveInt, Share, check_ranges
from elman.shapes import Bool, Float, Int, Tensor

_FEW = (256, 4096)  # sorting a whole vocabulary costs many times as much as finding these


@dataclass(frozen=True)
class Greedy:
    """Always the likeliest; of equals, the lowest."""

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return logits.argmax(-1)


@dataclass(frozen=True)
class TeacherForcing:
    """Teacher forcing: always the gold token of ``targets`` (B, T)."""

    targets: Int[Tensor, "B T"]

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        if position >= self.targets.shape[1]:
            raise ModelError(
                f"there are {self.targets.shape[1]} targets, but position {position} was asked for; "
                "limit may not exceed their number"
            )
        return self.targets[:, position]


@dataclass(frozen=True)
class ScheduledSampling:
    """Teacher forcing with probability p, drawn at each step and for each row (Bengio et al. 2015)."""

    targets: Int[Tensor, "B T"]
    p: float
    other: Policy
    generator: torch.Generator

    def __post_init__(self) -> None:
        check_option("p", self.p, 0 <= self.p <= 1, "from 0 to 1")

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        gold = TeacherForcing(self.targets)(position, logits)
        heads = uniform(len(logits), self.generator).to(logits.device) < self.p
        return torch.where(heads, gold, self.other(position, logits))


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Drawn from the softmax after temperature t (p' ∝ p^(1/t)), top-k, top-p and min-p, in this order.

    A generator on the CPU draws the same on every device; one on the logits' device spares a copy a step.
    With a generator for each row, a row draws the same whatever stands beside it.
    """

    generator: torch.Generator | Sequence[torch.Generator]
    temperature: PositiveFloat = 1.0
    top_k: PositiveInt | None = None
    top_p: Share | None = None
    min_p: Share | None = None
    min_tokens_to_keep: PositiveInt = 1  # so many of the likeliest each filter leaves in any case

    def __post_init__(self) -> None:
        check_ranges(self)

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return self.choose(logits, uniform(len(logits), self.generator).to(logits.device))

    def choose(self, logits: Float[Tensor, "B V"], numbers: Float[Tensor, " B"]) -> Int[Tensor, " B"]:
        """One token a row: the first whose cumulated mass exceeds a number from [0, 1) of it."""
        mass = self.filter_logits(logits).softmax(-1, dtype=torch.float64).cumsum(-1)
        point = numbers[:, None] * mass[:, -1:]
        # Past the last token only where there is no distribution at all (every logit -inf, or one NaN).
        return torch.searchsorted(mass, point, right=True)[:, 0].clamp(max=logits.shape[1] - 1)

    def filter_logits(self, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        """The logits of the distribution that is drawn from."""
        least = self.min_tokens_to_keep
        if self.temperature != 1:
            logits = divide_by_temperature(logits, self.temperature)
        if self.top_k is not None:
            logits = top_k(logits, max(self.top_k, least))
        if self.top_p is not None:
            logits = top_p(logits, self.top_p, least)
        if self.min_p is not None:
            logits = min_p(logits, self.min_p, least)
        return logits


def divide_by_temperature(logits: Float[Tensor, "B V"], temperature: float) -> Float[Tensor, "B V"]:
    """The logits of p^(1/t), the greatest of them 0: so the smallest temperature overflows to greedy choice."""
    return (logits - logits.amax(-1, keepdim=True)) / max(temperature, torch.finfo(logits.dtype).tiny)


# Filters: -inf for what is left out, by the probabilities of the logits that they are given, so that one after
# another sees what the first has left. Of equal logits the lower token is kept first.


def top_k(logits: Float[Tensor, "B V"], k: int) -> Float[Tensor, "B V"]:
    """The k likeliest tokens."""
    _, tokens = stable_topk(logits, k)
    return _only(logits, tokens, torch.ones_like(tokens, dtype=torch.bool))


def top_p(logits: Float[Tensor, "B V"], p: float, least: int = 1) -> Float[Tensor, "B V"]:
    """The fewest likeliest tokens whose probabilities sum to at least p (Holtzman et al. 2020)."""
    probabilities = logits.softmax(-1, dtype=torch.float64)
    tries = () if is_recording() else _FEW  # how many are needed, a recording cannot ask
    for count in (*(few for few in tries if few >= least), logits.shape[1]):
        _, tokens = stable_topk(logits, count)
        mass = probabilities.gather(1, tokens).cumsum(-1)
        if count >= logits.shape[1] or bool((mass[:, -1] >= p).all()):
            break
    kept = torch.nn.functional.pad(mass[:, :-1], (1, 0)) < p
    kept[:, :least] = True
    return _only(logits, tokens, kept)


def min_p(logits: Float[Tensor, "B V"], p: float, least: int = 1) -> Float[Tensor, "B V"]:
    """The tokens at least p times as likely as the likeliest (Nguyen et al. 2024)."""
    floor = logits.amax(-1, keepdim=True) + math.log(p)
    rare = logits < floor
    if least > 1:
        rare = rare.scatter(1, stable_topk(logits, least)[1], False)
    return logits.masked_fill(rare, float("-inf"))


def _only(
    logits: Float[Tensor, "B V"], tokens: Int[Tensor, "B k"], kept: Bool[Tensor, "B k"]
) -> Float[Tensor, "B V"]:
    mask = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, tokens, kept)
    return logits.masked_fill(~mask, float("-inf"))


def uniform(rows: int, generator: torch.Generator | Sequence[torch.Generator]) -> Float[Tensor, " B"]:
    """A number from [0, 1) for each row, drawn where the generator lives, or each row's own."""
    if isinstance(generator, torch.Generator):
        return _draw(rows, generator)
    return torch.cat([_draw(1, one) for one in generator])


def _draw(count: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    return torch.rand(count, dtype=torch.float64, generator=generator, device=generator.device)
