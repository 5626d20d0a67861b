"""Policies within a recording: what they draw is drawn before, for several steps, by the same generators.

So a recording writes what the loop of Python writes. A generator within a graph would draw other numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import torch

from elman.decoding.interfaces import Policy
from elman.decoding.policies import Greedy, Sample, uniform
from elman.shapes import Float, Int, Tensor

BLOCK = 8  # steps that are drawn for at once, and between two looks at who goes on


@runtime_checkable
class RecordedPolicy(Protocol):
    """A policy whose position is a tensor."""

    @property
    def settings(self) -> Hashable:
        """What tells its recordings apart: all that decides what it chooses, but the numbers."""

    @property
    def numbers(self) -> tuple[Tensor, ...]:
        """What a recording reads of it."""

    def read_from(self, numbers: tuple[Tensor, ...]) -> RecordedPolicy:
        """The same, with its numbers there."""

    def draw(self) -> None:
        """Draw for one more step, as the policy itself would."""

    def load(self) -> None:
        """Bring what was drawn to where the recording reads it."""

    def __call__(self, place: Int[Tensor, 1], logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        """Which token is written."""


@runtime_checkable
class Recordable(Protocol):
    """A policy of another room that can be recorded, too."""

    def record(self, start: Int[Tensor, " B"], first: int) -> RecordedPolicy | str:
        """The policy for as many rows from this position on; or why there is none."""


def record_policy(policy: Policy, start: Int[Tensor, " B"], first: int = 0) -> RecordedPolicy | str:
    """The policy for as many rows as ``start`` has, where they are, from the position ``first`` on; or why it
    cannot be recorded."""
    if isinstance(policy, Greedy):
        return RecordedGreedy()
    if isinstance(policy, Sample):
        return RecordedSample(policy, RandomBlock.open(start, policy.generator), first)
    other: object = policy
    if isinstance(other, Recordable):
        return other.record(start, first)
    return f"{type(policy).__name__} chooses in Python"


class RandomBlock:
    """A number from [0, 1) for each row and each of `BLOCK` steps."""

    def __init__(
        self, numbers: Float[Tensor, "K B"], generator: torch.Generator | Sequence[torch.Generator]
    ) -> None:
        self.numbers, self.generator = numbers, generator
        self.drawn: list[Tensor] = []

    @classmethod
    def open(cls, start: Tensor, generator: torch.Generator | Sequence[torch.Generator]) -> RandomBlock:
        """For as many rows as ``start`` has, where they are."""
        return cls(torch.zeros(BLOCK, len(start), dtype=torch.float64, device=start.device), generator)

    def draw(self) -> None:
        self.drawn.append(uniform(self.numbers.shape[1], self.generator))

    def load(self) -> None:
        some = torch.stack(self.drawn)
        if self.numbers.is_cuda and not some.is_cuda:
            some = some.pin_memory()  # only from there a copy does not wait for the device
        self.numbers[: len(some)].copy_(some, non_blocking=True)
        self.drawn.clear()


@dataclass(frozen=True)
class RecordedGreedy:
    """`Greedy`."""

    settings: Hashable = "greedy"
    numbers: tuple[Tensor, ...] = ()

    def read_from(self, numbers: tuple[Tensor, ...]) -> RecordedGreedy:
        return self

    def draw(self) -> None:
        pass

    def load(self) -> None:
        pass

    def __call__(self, place: Int[Tensor, 1], logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        return logits.argmax(-1)


@dataclass(frozen=True)
class RecordedSample:
    """`Sample`."""

    policy: Sample
    block: RandomBlock
    first: int  # the position that the first number is for

    @property
    def settings(self) -> Hashable:
        one = self.policy
        return self.first, one.temperature, one.top_k, one.top_p, one.min_p, one.min_tokens_to_keep

    @property
    def numbers(self) -> tuple[Tensor, ...]:
        return (self.block.numbers,)

    def read_from(self, numbers: tuple[Tensor, ...]) -> RecordedSample:
        return replace(self, block=RandomBlock(numbers[0], self.block.generator))

    def draw(self) -> None:
        self.block.draw()

    def load(self) -> None:
        self.block.load()

    def __call__(self, place: Int[Tensor, 1], logits: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        policy, numbers = self.policy, self.block.numbers
        filters = policy.top_k is not None or policy.top_p is not None or policy.min_p is not None
        if not logits.is_cuda:
            return policy.choose(logits, numbers[(place - self.first) % BLOCK][0])
        from elman.decoding.row_kernels import draw

        if filters:
            return draw(policy.filter_logits(logits), numbers, place, self.first, 1.0)
        return draw(logits, numbers, place, self.first, policy.temperature)
