"""Where a decoder looks: weights over the encoder's outputs, and the sum that they weigh.

α_ij = softmax_j score(h^d_i, h^e_j)      c_i = Σ_j α_ij h^e_j
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from elman.layers.scores import SCORES, Additive, Bilinear, Dot, ScaledDot, Score
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import pick

__all__ = ["SCORES", "Additive", "Attention", "Bilinear", "Dot", "Memory", "ScaledDot", "Score"]


class Memory(NamedTuple):
    """What an encoder leaves for a decoder to look at; zeros at the padding."""

    values: Float[Tensor, "B S E"]
    keys: Float[Tensor, "B S K"]
    mask: Bool[Tensor, "B S"]


class Attention(nn.Module):
    """The context c_i of each query and its weights α_ij; both are zero where a source is empty."""

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score

    def remember(self, values: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]) -> Memory:
        """The memory of a batch of sources, its keys computed once for all queries to come."""
        # A weight of zero does not silence a NaN, and what stands in the padding may be anything.
        values = values.masked_fill(~mask[..., None], 0)
        return Memory(values, self.score.keys(values), mask)

    def forward(
        self,
        query: Float[Tensor, "B T H"],
        memory: Memory,
        rows: Int[Tensor, " B"] | None = None,
    ) -> tuple[Float[Tensor, "B T E"], Float[Tensor, "B T S"]]:
        """Query b looks at row b of the memory, or at row ``rows[b]``: beams share a source."""
        if rows is None:
            return self._attend(query, memory)
        if not len(rows) or query.device.type != "cpu":  # counting would make a device wait
            return self._attend(query, Memory(*pick(memory, rows)))
        return self._together(query, memory, rows)

    def _attend(self, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        scores = self.score(query, memory.keys)
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        mask = memory.mask[:, None]
        # -∞ would make an empty source NaN: its weights come out alike and are then zeroed.
        weights = scores.masked_fill(~mask, -1e30).softmax(-1) * mask
        return torch.bmm(weights.to(memory.values.dtype), memory.values), weights

    def _together(self, query: Tensor, memory: Memory, rows: Tensor) -> tuple[Tensor, Tensor]:
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
        place = group * most + _slots(group)
        spread = query.new_zeros(lines * most, steps, size).index_copy(0, place, query)
        sides = self._attend(spread.view(lines, most * steps, size), memory)
        context, weights = (
            each.view(lines * most, steps, each.shape[-1]).index_select(0, place) for each in sides
        )
        return context, weights


def _slots(group: Tensor) -> Tensor:
    """How many of the same group stand before each."""
    order = group.argsort(stable=True)
    ordered, slot = group[order], torch.empty_like(order)
    slot[order] = torch.arange(len(order)) - torch.searchsorted(ordered, ordered)
    return slot
