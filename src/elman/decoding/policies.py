"""What is fed back: the gold token, the likeliest, a drawn one, or now this and now that."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from elman.decoding import filters
from elman.decoding.kinds import Policy
from elman.errors import ConfigError, ModelError
from elman.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class Greedy:
    """Always the likeliest; of equals, the lowest."""

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return logits.argmax(-1)


@dataclass(frozen=True)
class Forced:
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
class Mixed:
    """Teacher forcing with probability p, drawn at each step and for each row (Bengio et al. 2015)."""

    targets: Int[Tensor, "B T"]
    p: float
    other: Policy
    generator: torch.Generator

    def __post_init__(self) -> None:
        _within("p", self.p, 0 <= self.p <= 1, "from 0 to 1")

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        gold = Forced(self.targets)(position, logits)
        heads = uniform(logits, self.generator) < self.p
        return torch.where(heads, gold, self.other(position, logits))


@dataclass(frozen=True)
class Switch:
    """One policy for the first ``at`` positions, another from there on (MIXER, Ranzato et al. 2016)."""

    at: int
    before: Policy
    after: Policy

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return (self.before if position < self.at else self.after)(position, logits)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Drawn from the softmax after temperature, top-k, top-p and min-p, in this order.

    A generator on the CPU draws the same on every device; one on the logits' device spares a copy a step.
    """

    generator: torch.Generator
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        t, k, p, m = self.temperature, self.top_k, self.top_p, self.min_p
        _within("temperature", t, 0 < t < float("inf"), "above 0; Greedy() is what it tends to")
        _within("top_k", k, k is None or k >= 1, "at least 1")
        _within("top_p", p, p is None or 0 < p <= 1, "above 0 and at most 1")
        _within("min_p", m, m is None or 0 < m <= 1, "above 0 and at most 1")

    def __call__(self, position: int, logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return draw(self.filtered(logits), self.generator)

    def filtered(self, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        """The logits of the distribution that is drawn from."""
        logits = filters.temperature(logits, self.temperature)
        if self.top_k is not None:
            logits = filters.top_k(logits, self.top_k)
        if self.top_p is not None:
            logits = filters.top_p(logits, self.top_p)
        if self.min_p is not None:
            logits = filters.min_p(logits, self.min_p)
        return logits


def draw(logits: Float[Tensor, "B V"], generator: torch.Generator) -> Int[Tensor, " B"]:
    """One token a row from the softmax: the first whose cumulated mass exceeds a uniform number."""
    mass = logits.softmax(-1, dtype=torch.float64).cumsum(-1)
    point = uniform(logits, generator)[:, None] * mass[:, -1:]
    # Past the last token only where there is no distribution at all (every logit -inf, or one NaN).
    return torch.searchsorted(mass, point, right=True)[:, 0].clamp(max=logits.shape[1] - 1)


def uniform(logits: Float[Tensor, "B V"], generator: torch.Generator) -> Float[Tensor, " B"]:
    """A number from [0, 1) for each row, drawn where the generator lives."""
    numbers = torch.rand(
        len(logits), dtype=torch.float64, generator=generator, device=generator.device
    )
    return numbers.to(logits.device)


def _within(name: str, value: float | None, right: bool, range_: str) -> None:
    if not right:
        raise ConfigError(f"{name} is {value}; it must be {range_}")
