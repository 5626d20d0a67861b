"""Where a decoder looks: weights over the encoder's outputs, and the sum that they weigh.

α_ij = softmax_j score(h^d_i, h^e_j)      c_i = Σ_j α_ij h^e_j
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol, cast, runtime_checkable

import torch
from torch import nn

from elman.errors import ModelError
from elman.kernels.dot_attention import attend_by_dots, can_attend, weigh_values
from elman.kernels.large_products import linear_large
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import pick


@runtime_checkable
class AttentionScore(Protocol):
    """A module that scores queries h^d against keys, which it makes of the encoder's outputs h^e."""

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S K"]:
        """The part of the score that sees only the source: computed once a sequence."""

    def __call__(self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B T S"]:
        """A score for each query at each position of the source."""


class Dot(nn.Module):
    """h^d · h^e"""

    scale = 1.0  # of the products

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ModelError(
                f"a dot product needs equal sizes, but the decoder has {query_size} units and the "
                f"encoder gives {memory_size}; the score 'bilinear' joins any two"
            )

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S E"]:
        return memory

    def forward(self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]) -> Float[Tensor, "B T S"]:
        return torch.bmm(query, keys.transpose(1, 2))


class ScaledDot(Dot):
    """h^d · h^e / √H, whose spread does not grow with the size (Vaswani et al. 2017)."""

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__(query_size, memory_size)
        self.scale = 1 / math.sqrt(query_size)

    def forward(self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]) -> Float[Tensor, "B T S"]:
        return super().forward(query, keys) * self.scale


class Bilinear(nn.Module):
    """h^d W_s h^e (Luong et al. 2015); the keys are W_s h^e, and the two sizes may differ."""

    scale = 1.0  # of the products

    def __init__(self, query_size: int, memory_size: int) -> None:
        super().__init__()
        self.W_s = nn.Linear(memory_size, query_size, bias=False)

    def keys(self, memory: Float[Tensor, "B S E"]) -> Float[Tensor, "B S H"]:
        return linear_large(memory, self.W_s.weight)

    def forward(self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S H"]) -> Float[Tensor, "B T S"]:
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
        return linear_large(memory, self.U.weight)

    def forward(self, query: Float[Tensor, "B T H"], keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B T S"]:
        # (B, T, S, K) for all steps at once would outgrow the caches, and be half as fast.
        steps = max(1, self.block // max(1, keys.numel()))
        queries = torch.split(linear_large(query, self.W.weight), steps, 1)
        return torch.cat([self._scores(some, keys) for some in queries], 1)

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        # tanh z = 2 σ(2z) - 1, and on a CPU torch computes σ six times as fast as tanh.
        twice = torch.add(2 * query[:, :, None], keys[:, None], alpha=2)
        return 2 * (twice.sigmoid_() @ self.v) - self.v.sum()


SCORES: dict[str, Callable[[int, int], AttentionScore]] = {
    "dot": Dot,
    "scaled": ScaledDot,
    "bilinear": Bilinear,
    "additive": Additive,
}
"""Scores by their names in a recipe, each made of the sizes of a query and of the memory."""

_DOTS = (Dot, ScaledDot, Bilinear)  # products of queries and keys, times a scale


class Memory(NamedTuple):
    """What an encoder leaves for a decoder to look at; zeros at the padding."""

    values: Float[Tensor, "B S E"]
    keys: Float[Tensor, "B S K"]
    mask: Bool[Tensor, "B S"]


class Attention(nn.Module):
    """The context c_i of each query and its weights α_ij; both are zero where a source is empty."""

    def __init__(self, score: AttentionScore) -> None:
        super().__init__()
        self.score = score

    def remember(self, values: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]) -> Memory:
        """The memory of a batch of sources, its keys computed once for all queries to come."""
        # A weight of zero does not silence a NaN, and what stands in the padding may be anything.
        values = values.masked_fill(~mask[..., None], 0)
        return Memory(values, self.score.keys(values), mask)

    def forward(
        self, query: Float[Tensor, "B T H"], memory: Memory, rows: Int[Tensor, " B"] | None = None
    ) -> tuple[Float[Tensor, "B T E"], Float[Tensor, "B T S"]]:
        """Query b looks at row b of the memory, or at row ``rows[b]``: beams share a source."""
        if rows is None:
            return self._attend(query, memory)
        if not len(rows) or query.device.type != "cpu":  # counting would make a device wait
            return self._attend(query, Memory(*pick(memory, rows)))
        return self._attend_side_by_side(query, memory, rows)

    def _attend(self, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        values, keys, mask = memory
        if type(self.score) in _DOTS and can_attend(query, *memory):
            return attend_by_dots(query, keys, values, mask, cast(Dot | Bilinear, self.score).scale)
        return weigh_values(self.score(query, keys), values, mask)

    def _attend_side_by_side(self, query: Tensor, memory: Memory, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Queries that share a row stand side by side like steps, so that their row is not copied."""
        used, group, counts = torch.unique(rows, return_inverse=True, return_counts=True)
        # Often a copy would cost more than looks that nobody asked for.
        if 2 * len(used) > len(memory.mask):
            group = rows
        else:
            memory = Memory(*pick(memory, used))
        (_, steps, size), lines, most = query.shape, len(memory.mask), int(counts.max())
        if lines * most > 4 * len(rows):  # mostly gaps
            return self._attend(query, Memory(*pick(memory, group)))
        place = group * most + _count_before(group)
        spread = query.new_zeros(lines * most, steps, size).index_copy(0, place, query)
        sides = self._attend(spread.view(lines, most * steps, size), memory)
        context, weights = (
            each.view(lines * most, steps, each.shape[-1]).index_select(0, place) for each in sides
        )
        return context, weights


def _count_before(group: Tensor) -> Tensor:
    """How many of the same group stand before each."""
    order = group.argsort(stable=True)
    ordered, slot = group[order], torch.empty_like(order)
    slot[order] = torch.arange(len(order)) - torch.searchsorted(ordered, ordered)
    return slot
