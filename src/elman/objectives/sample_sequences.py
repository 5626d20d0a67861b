"""Sequences that a model writes while it is trained: without dropout, without gradients, all rows at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from torch.nn.functional import pad

from elman.decoding import ForcedPrefix, Policy, Sample, rollout
from elman.decoding.interfaces import Limits
from elman.decoding.recorded_policies import RecordedPolicy, record_policy
from elman.decoding.sequence_model import SequenceModel, Sequences
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import eval_mode


class SampleBatch(NamedTuple):
    """Sequences for each example of a batch."""

    samples: Sequences  # K rows for each example in succession
    weights: Float[Tensor, "B K"]  # what each counts; they sum to 1 for each example
    greedy: Sequences | None  # one row for each example, where that was asked for


# (model, batch, how many, whether the greedy one too, prefixes) -> sequences
Sampler = Callable[[SequenceModel[Any], Any, int, bool, "Tensor | None"], SampleBatch]


def draw_samples(
    model: SequenceModel[Any],
    batch: Any,
    copies: int,
    greedy: bool = False,
    prefix: Int[Tensor, "B P"] | None = None,
    temperature: float = 1.0,
) -> SampleBatch:
    """Independent samples of p(y | x); each after its own prefix, where that is not negative.

    A ``temperature`` below 1 draws likelier ones: not for what needs samples of p itself. The greedy sequence
    is written beside them in the same steps: it is a row of its own.
    """
    rows = copies + greedy
    with torch.no_grad(), eval_mode(model.net):
        begun = model.begin(batch, rows)
        policy: Policy = Sample(generator=default_generator(begun.start.device), temperature=temperature)
        if greedy:
            policy = FirstGreedy(rows, policy)
        limits: Limits = {"start": begun.start, "stop": begun.stop, "limit": begun.limit}
        if prefix is not None:
            limits["constraints"] = [ForcedPrefix(prefix.repeat_interleave(rows, 0))]
        run = rollout(begun.step, begun.state, policy, **limits)
    first = torch.arange(len(run.tokens), device=run.tokens.device) % rows < greedy
    weights = torch.full((len(first) // rows, copies), 1 / copies, device=first.device)
    samples = Sequences(run.tokens[~first], run.mask[~first])
    best = Sequences(run.tokens[first], run.mask[first]) if greedy else None
    return SampleBatch(samples, weights, best)


@dataclass(frozen=True)
class FirstGreedy:
    """The likeliest token for the first of every ``rows`` rows, another policy for the others."""

    rows: int
    other: Policy

    def __call__(self, position: int, logits: Float[Tensor, "N V"]) -> Int[Tensor, " N"]:
        first = torch.arange(len(logits), device=logits.device) % self.rows == 0
        return torch.where(first, logits.argmax(-1), self.other(position, logits))

    def record(self, start: Int[Tensor, " N"], first: int) -> RecordedPolicy | str:
        """The same within a recording."""
        other = record_policy(self.other, start, first)
        return other if isinstance(other, str) else RecordedFirstGreedy(self.rows, other)


@dataclass(frozen=True)
class RecordedFirstGreedy:
    """`FirstGreedy` within a recording."""

    rows: int
    other: RecordedPolicy

    @property
    def settings(self) -> Hashable:
        return self.rows, type(self.other), self.other.settings

    @property
    def numbers(self) -> tuple[Tensor, ...]:
        return self.other.numbers

    def read_from(self, numbers: tuple[Tensor, ...]) -> RecordedFirstGreedy:
        return replace(self, other=self.other.read_from(numbers))

    def draw(self) -> None:
        self.other.draw()

    def load(self) -> None:
        self.other.load()

    def __call__(self, place: Int[Tensor, 1], logits: Float[Tensor, "N V"]) -> Int[Tensor, " N"]:
        first = torch.arange(len(logits), device=logits.device) % self.rows == 0
        return torch.where(first, logits.argmax(-1), self.other(place, logits))


def default_generator(device: torch.device) -> torch.Generator:
    """The random numbers of a device, which training seeds anew for every update."""
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator


def concat_sequences(first: Sequences, second: Sequences, examples: int) -> Sequences:
    """The sequences of both for each example, those of ``first`` before those of ``second``."""
    longest = max(first.tokens.shape[1], second.tokens.shape[1])

    def wide(part: Tensor) -> Tensor:
        part = pad(part, (0, longest - part.shape[1]))
        return part.view(examples, -1, longest)

    return Sequences(
        *(torch.cat([wide(a), wide(b)], 1).flatten(0, 1) for a, b in zip(first, second, strict=True))
    )


def first_occurrences(given: Sequences, examples: int) -> Bool[Tensor, "B K"]:
    """Where a sequence is not the same as an earlier one of its example."""
    tokens = given.tokens.masked_fill(~given.mask, -1).view(examples, -1, given.tokens.shape[1])
    same = (tokens[:, :, None] == tokens[:, None]).all(-1)
    return ~same.tril(-1).any(-1)


def unpad(given: Sequences) -> list[list[int]]:
    """The tokens of each sequence, without its padding."""
    lengths = given.mask.sum(1).tolist()
    return [row[:n] for row, n in zip(given.tokens.tolist(), lengths, strict=True)]
