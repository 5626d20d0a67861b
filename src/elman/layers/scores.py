"""How well a decoder's state matches each position of a source: the scores of attention."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from torch import nn

from elman.errors import ModelError
from elman.shapes import Float, Tensor


@runtime_checkable
class Score(Protocol):
    """A module that scores queries h^d against keys, which it makes of the encoder's outputs h^e."""

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S K"]:
        """The part of the score that sees only the source: computed once a sequence."""

    def __call__(
        self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]
    ) -> Float[Tensor, "B T S"]:
        """A score for each query at each position of the source."""


class Dot(nn.Module):
    """h^d · h^e"""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ModelError(
                f"a dot product needs equal sizes, but the decoder has {query_size} units and the "
                f"encoder gives {memory_size}; the score 'bilinear' joins any two"
            )

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S E"]:
        return memory

    def forward(
        self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]
    ) -> Float[Tensor, "B T S"]:
        return torch.bmm(query, keys.transpose(1, 2))


class ScaledDot(Dot):
    """h^d · h^e / √H, whose spread does not grow with the size (Vaswani et al. 2017)."""

    def forward(
        self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]
    ) -> Float[Tensor, "B T S"]:
        return super().forward(query, keys) / math.sqrt(query.shape[-1])


class Bilinear(nn.Module):
    """h^d W_s h^e (Luong et al. 2015); the keys are W_s h^e, and the two sizes may differ."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.W_s = nn.Linear(memory_size, query_size, bias=False)

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S H"]:
        keys: Tensor = self.W_s(memory)
        return keys

    def forward(
        self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]
    ) -> Float[Tensor, "B T S"]:
        return torch.bmm(query, keys.transpose(1, 2))


class Additive(nn.Module):
    """v · tanh(W h^d + U h^e) (Bahdanau et al. 2015); the keys are U h^e."""

    block = 2**20  # numbers computed at once

    def __init__(self, query_size: int, memory_size: int, size: int | None = None) -> None:
        super().__init__()
        size = query_size if size is None else size
        self.W = nn.Linear(query_size, size, bias=False)
        self.U = nn.Linear(memory_size, size, bias=False)
        self.v = nn.Parameter(torch.empty(size))
        nn.init.uniform_(self.v, -1 / math.sqrt(size), 1 / math.sqrt(size))

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S K"]:
        keys: Tensor = self.U(memory)
        return keys

    def forward(
        self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]
    ) -> Float[Tensor, "B T S"]:
        # (B, T, S, K) for all steps at once would outgrow the caches, and be half as fast.
        steps = max(1, self.block // max(1, keys.numel()))
        queries = self.W(query).split(steps, 1)
        return torch.cat([self._scores(some, keys) for some in queries], 1)

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        # tanh z = 2 σ(2z) - 1, and on a CPU torch computes σ six times as fast as tanh.
        twice = torch.add(2 * query[:, :, None], keys[:, None], alpha=2)
        return 2 * (twice.sigmoid_() @ self.v) - self.v.sum()


SCORES: dict[str, Callable[[int, int], Score]] = {
    "dot": Dot,
    "scaled": ScaledDot,
    "bilinear": Bilinear,
    "additive": Additive,
}
"""Scores by their names in a recipe, each made of the sizes of a query and of the memory."""
