"""Sequences without their padding: step after step, the longest rows first, so that step t is a block of rows.

Skipping what is masked is the same as leaving the state alone there, so any mask can be packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
            return _place_rows(ys, self.index, self.rows * self.steps).view(self.rows, self.steps, -1)
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

    @cached_property
    def row_of_token(self) -> Tensor:
        """Which row of the batch each packed token is of, where anything is masked."""
        assert self.index is not None
        return self.index // self.steps

    def last_tokens(self, *, reverse: bool) -> Int[Tensor, " B"]:
        """Which packed token of each row a direction reads last; negative where the row is empty."""
        if reverse == self.reverse:
            return (self._last - self.rows)[self._places]
        first = torch.arange(self.rows)
        return torch.where(first < self.sizes[0], first, -1)[self._places]

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


@dataclass(frozen=True)
class RowPacking(Packing):
    """That of a batch whose tokens are packed already: ``turn`` gives those of the other direction."""

    turn: Tensor | None  # None where they lie in the order of this one

    def pack(self, xs: Float[Tensor, "N D"] | Int[Tensor, "N D"]) -> Float[Tensor, "N D"] | Int[Tensor, "N D"]:
        return xs if self.turn is None else xs.index_select(0, self.turn)

    def unpack(self, ys: Float[Tensor, "N H"]) -> Float[Tensor, "N H"]:
        return self.pack(ys)


def _place_rows(rows: Float[Tensor, "N H"], places: Int[Tensor, " N"], count: int) -> Float[Tensor, "M H"]:
    """``count`` rows: these at their places, zeros elsewhere."""
    flat = rows.new_zeros(count, rows.shape[1])
    # On a CPU it takes less time to add rows to zeros than to copy them.
    return flat.index_add_(0, places, rows) if rows.is_cpu else flat.index_copy(0, places, rows)


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
            ys = _place_rows(ys, self.index, self.rows * self.steps)
        return ys.view(self.rows, self.steps, -1)
