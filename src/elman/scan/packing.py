"""Sequences without their padding: step after step, the longest rows first, so that step t is a block of rows.

Skipping what is masked is the same as leaving the state alone there, so any mask can be packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
import torch

from elman.shapes import Bool, Float, Int, Tensor
from elman.state import S, pick


@dataclass(frozen=True)
class Packing:
    """Where the tokens of a (B, T) batch lie when packed.

    ``index`` holds the flat position b·T + t of each packed token and ``order`` the rows by falling
    length; both are None when nothing is masked. ``sizes`` counts the rows that take part in each step.
    """

    rows: int
    steps: int
    sizes: list[int]
    index: Tensor | None
    order: Tensor | None
    reverse: bool

    def pack(
        self, xs: Float[Tensor, "B T D"] | Int[Tensor, "B T D"]
    ) -> Float[Tensor, "N D"] | Int[Tensor, "N D"]:
        if self.index is not None:
            return xs.reshape(-1, xs.shape[-1]).index_select(0, self.index)
        xs = xs.flip(1) if self.reverse else xs
        return xs.transpose(0, 1).reshape(-1, xs.shape[-1])

    def unpack(self, ys: Float[Tensor, "N H"]) -> Float[Tensor, "B T H"]:
        """The inverse of ``pack``; zeros where the mask is false."""
        if self.index is not None:
            flat = ys.new_zeros(self.rows * self.steps, ys.shape[-1])
            return flat.index_copy(0, self.index, ys).view(self.rows, self.steps, -1)
        ys = ys.view(self.steps, self.rows, -1).transpose(0, 1)
        return ys.flip(1) if self.reverse else ys

    def sort(self, state: S) -> S:
        """The rows of a state in packed order."""
        return state if self.order is None else pick(state, self.order)

    def unsort(self, state: S) -> S:
        return state if self.order is None else pick(state, self._places)

    @cached_property
    def _places(self) -> Tensor:
        """Where each row stands in packed order."""
        assert self.order is not None
        return torch.argsort(self.order)

    def previous(self, device: torch.device) -> Tensor:
        """For each token, the row of the step before it in a buffer that begins with s_0 (all B rows)."""
        return self._previous.to(device)

    def last(self, device: torch.device) -> Tensor:
        """For each sorted row, the row of its last step in such a buffer; its s_0 where it has no step."""
        return self._last.to(device)

    @cached_property
    def _previous(self) -> Tensor:
        sizes = np.array(self.sizes)
        shift = np.concatenate([[0], self.rows - sizes[:-1]])[: len(sizes)]
        return torch.from_numpy(np.arange(sizes.sum()) + shift.repeat(sizes))

    @cached_property
    def _last(self) -> Tensor:
        sizes, row = np.array(self.sizes), np.arange(self.rows)
        steps = np.searchsorted(-sizes, -row, side="left")  # how many have more rows than this
        starts = np.concatenate([[-self.rows], sizes.cumsum() - sizes])
        return torch.from_numpy(self.rows + starts[steps] + row)


def last_position(mask: Bool[Tensor, "B T"], *, reverse: bool) -> Int[Tensor, " B"]:
    """The position that is read last in each row; anything where the row is empty."""
    times = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    return (mask * (times.flip(0) if reverse else times)).argmax(1)


@dataclass(frozen=True)
class Segments:
    """Where the tokens of a (B, T) batch lie when one row follows the other, without padding.

    Row i has the tokens from ``starts[i]`` to ``starts[i + 1]``; ``index`` holds the flat position b·T + t of
    each token, and is None when nothing is masked.
    """

    rows: int
    steps: int
    index: Tensor | None
    starts: Int[Tensor, " rows"]

    @property
    def tokens(self) -> int:
        return self.rows * self.steps if self.index is None else len(self.index)

    def pack(self, xs: Float[Tensor, "B T D"]) -> Float[Tensor, "N D"]:
        flat = xs.reshape(-1, xs.shape[-1])
        return flat if self.index is None else flat.index_select(0, self.index)

    def unpack(self, ys: Float[Tensor, "N H"]) -> Float[Tensor, "B T H"]:
        """The inverse of ``pack``; zeros where the mask is false."""
        if self.index is not None:
            ys = ys.new_zeros(self.rows * self.steps, ys.shape[-1]).index_copy(0, self.index, ys)
        return ys.view(self.rows, self.steps, -1)


class Lengths:
    """What a mask (B, T) says of a batch, computed once for all layers and both directions."""

    def __init__(self, mask: Bool[Tensor, "B T"]) -> None:
        self.mask = mask
        self._packings: dict[bool, Packing] = {}

    @cached_property
    def full(self) -> bool:
        """Is nothing masked?"""
        return bool(self.mask.all())

    def packing(self, reverse: bool) -> Packing:
        if reverse not in self._packings:
            self._packings[reverse] = self._pack(reverse)
        return self._packings[reverse]

    @cached_property
    def segments(self) -> Segments:
        position = self.mask.flatten().nonzero().squeeze(1)
        starts = torch.cat([self.mask.new_zeros(1, dtype=torch.long), self.mask.sum(1).cumsum(0)])
        rows, steps = self.mask.shape
        return Segments(rows, steps, position, starts)

    @cached_property
    def _row_order(self) -> tuple[Tensor, Tensor, list[int]]:
        """The length of each row, the rows by falling length, and how many take part in each step."""
        lengths = self.mask.sum(1)
        order = torch.argsort(lengths, descending=True, stable=True)
        counts = torch.bincount(lengths.cpu(), minlength=1)
        return lengths, order, counts.flip(0).cumsum(0).flip(0)[1:].tolist()

    def _pack(self, reverse: bool) -> Packing:
        lengths, order, sizes = self._row_order
        rows, steps = self.mask.shape
        # Rank of each real token within its row: its step.
        ranks = self.mask.long().cumsum(1) - 1
        ranks = lengths[:, None] - 1 - ranks if reverse else ranks
        place = torch.argsort(order)  # of each row among the sorted ones
        position = self.mask.flatten().nonzero().squeeze(1)
        # Step t has the rows that stand first, in their order: where it begins, and the place of the row.
        starts = torch.tensor([0, *accumulate(sizes)], device=order.device)
        packed = starts[ranks.flatten()[position]] + place[position // max(steps, 1)]
        index = torch.empty_like(position).index_copy_(0, packed, position)
        return Packing(rows, steps, sizes, index, order, reverse)
