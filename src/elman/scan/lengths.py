"""What a mask says of the sequences of a batch, and where their tokens lie."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate

import torch

from elman.scan.packing import Packing, RowPacking, Segments
from elman.shapes import Bool, Tensor


class Lengths:
    """What a mask (B, T) says of a batch, computed once for all layers and both directions."""

    def __init__(self, mask: Bool[Tensor, "B T"]) -> None:
        self.mask = mask
        self._packings: dict[bool, Packing] = {}
        self._row_packings: dict[tuple[bool, bool], RowPacking] = {}

    @cached_property
    def full(self) -> bool:
        """Is nothing masked?"""
        return bool(self.mask.all())

    def packing(self, reverse: bool) -> Packing:
        if reverse not in self._packings:
            self._packings[reverse] = self._pack(reverse)
        return self._packings[reverse]

    def row_packing(self, reverse: bool, *, given: bool) -> RowPacking:
        """That of tokens which lie in the order of the direction ``given``."""
        if (reverse, given) not in self._row_packings:
            own = self.packing(reverse)
            turn = None if reverse == given else self._turn
            known = own.rows, own.steps, own.sizes, own.index, own.order
            self._row_packings[reverse, given] = RowPacking(*known, reverse, turn)
        return self._row_packings[reverse, given]

    def segment_moves(self, given: bool) -> tuple[Tensor, Tensor]:
        """What puts tokens from the order of the direction ``given`` into that of `Segments`, and back."""
        packed, one_by_one = self._index(given), self._positions
        return self._compare(packed, one_by_one), self._compare(one_by_one, packed)

    @cached_property
    def _turn(self) -> Tensor:
        """From one direction into the other, both ways: step t of n is step n - 1 - t there."""
        return self._compare(self._index(False), self._index(True))

    def _index(self, reverse: bool) -> Tensor:
        index = self.packing(reverse).index
        assert index is not None  # a mask has packed it
        return index

    def _compare(self, old: Tensor, new: Tensor) -> Tensor:
        """For each token of the new order where it stands in the old one."""
        place = old.new_empty(self.mask.numel())
        place[old] = torch.arange(len(old), device=old.device)
        return place[new]

    @cached_property
    def _positions(self) -> Tensor:
        """b·T + t of the real tokens, in order."""
        return self.mask.flatten().nonzero().squeeze(1)

    @cached_property
    def segments(self) -> Segments:
        starts = torch.cat([self.mask.new_zeros(1, dtype=torch.long), self.mask.sum(1).cumsum(0)])
        rows, steps = self.mask.shape
        return Segments(rows, steps, self._positions, starts)

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
        position = self._positions
        # Step t has the rows that stand first, in their order: where it begins, and the place of the row.
        starts = torch.tensor([0, *accumulate(sizes)], device=order.device)
        packed = starts[ranks.flatten()[position]] + place[position // max(steps, 1)]
        index = torch.empty_like(position).index_copy_(0, packed, position)
        return Packing(rows, steps, sizes, index, order, reverse)
