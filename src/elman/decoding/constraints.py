"""What may not be written: logits to logits, -inf for what is forbidden next.

A constraint changes what is chosen, never what it is worth: log-probabilities remain those of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from elman.decoding.interfaces import Constraint, History
from elman.errors import ConfigError, check_option
from elman.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class MinLength:
    """None of the ``ends`` before ``length`` other tokens are written."""

    length: int
    ends: tuple[int, ...]

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        if written.length >= self.length:
            return logits
        return _without(logits, self.ends)


@dataclass(frozen=True)
class NoRepeatNgram:
    """No n-gram twice in one row."""

    n: int

    def __post_init__(self) -> None:
        check_option("the n of n-grams that may not repeat", self.n, self.n >= 1, "at least 1")

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        tokens, n = written.tokens, self.n
        if tokens.shape[1] < n:
            return logits
        grams = tokens.unfold(1, n, 1)  # (B, t - n + 1, n)
        context = tokens[:, tokens.shape[1] - n + 1 :]
        again = (grams[:, :, :-1] == context[:, None]).all(-1)
        # What does not match goes to a column of its own: no two writes to one place may differ.
        last = torch.where(again, grams[:, :, -1], logits.shape[1])
        forbidden = logits.new_zeros(len(logits), logits.shape[1] + 1, dtype=torch.bool)
        return logits.masked_fill(forbidden.scatter_(1, last, True)[:, :-1], float("-inf"))


@dataclass(frozen=True)
class BannedTokens:
    """None of these sequences of tokens anywhere in a row; a single token is a sequence of one."""

    sequences: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if () in self.sequences:
            raise ConfigError("a banned sequence is empty; it must have at least one token")

    def __call__(self, written: History, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        tokens = written.tokens
        logits = _without(logits, [sequence[0] for sequence in self.sequences if len(sequence) == 1])
        for *head, last in self.sequences:
            if not head or len(head) > tokens.shape[1]:
                continue
            recent = tokens[:, tokens.shape[1] - len(head) :].unbind(1)
            begun = torch.stack([a == b for a, b in zip(recent, head, strict=True)]).all(0)
            column = logits[:, last].masked_fill(begun, float("-inf"))
            logits = logits.index_copy(1, _index([last], logits), column[:, None])
        return logits


@dataclass(frozen=True)
class ForcedPrefix:
    """Each sentence begins with its row of ``tokens`` (B, P); where that is negative the model is free."""

    tokens: Int[Tensor, "B P"]

    def __call__(self, written: History, logits: Float[Tensor, "N V"]) -> Float[Tensor, "N V"]:
        position = written.length
        if position >= self.tokens.shape[1]:
            return logits
        wanted = self.tokens.to(logits.device)[written.sentence, position][:, None]
        other = torch.arange(logits.shape[1], device=logits.device) != wanted
        return logits.masked_fill(other & (wanted >= 0), float("-inf"))


def constrain(
    constraints: Sequence[Constraint], written: History, logits: Float[Tensor, "B V"]
) -> Float[Tensor, "B V"]:
    """The logits after all of the constraints."""
    for constraint in constraints:
        logits = constraint(written, logits)
    return logits


def _without(logits: Float[Tensor, "B V"], tokens: Sequence[int]) -> Float[Tensor, "B V"]:
    return logits.index_fill(1, _index(tokens, logits), float("-inf"))


def _index(tokens: Sequence[int], logits: Tensor) -> Int[Tensor, " n"]:
    return torch.tensor(tokens, dtype=torch.long, device=logits.device)
