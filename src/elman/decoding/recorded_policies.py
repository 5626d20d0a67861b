"""Policies within a recording: what they draw is drawn before, for several steps, by the same generators.

So a recording writes what the loop of Python writes. A generator within a graph would draw other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from elman.decoding.interfaces import Policy
from elman.decoding.policies import Greedy, Sample, uniform
from elman.shapes import Float, Int, Tensor

BLOCK = 8  # steps that are drawn for at once, and between two looks at who goes on


@runtime_checkable
class RecordedPolicy(Protocol):
    """A policy whose position is a tensor."""

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
        return RecordedSample(policy, RandomBlock(start, policy.generator), first)
    other: object = policy
    if isinstance(other, Recordable):
        return other.record(start, first)
    return f"{type(policy).__name__} chooses in Python"


class RandomBlock:
    """A number from [0, 1) for each row and each of `BLOCK` steps."""

    def __init__(self, start: Tensor, generator: torch.Generator | Sequence[torch.Generator]) -> None:
        self.rows, self.generator = len(start), generator
        self.numbers = torch.zeros(BLOCK, self.rows, dtype=torch.float64, device=start.device)
        self.drawn: list[Tensor] = []

    def draw(self) -> None:
        self.drawn.append(uniform(self.rows, self.generator))

    def load(self) -> None:
        some = torch.stack(self.drawn)
        if self.numbers.is_cuda and not some.is_cuda:
            some = some.pin_memory()  # only from there a copy does not wait for the device
        self.numbers[: len(some)].copy_(some, non_blocking=True)
        self.drawn.clear()


@dataclass(frozen=True)
class RecordedGreedy:
    """`Greedy`."""

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
