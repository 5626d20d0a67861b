"""What is known of a run before its first step, and what an executor is: values, no state of the process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from elman.cells import Cell
from elman.cuda_graph import is_recording
from elman.errors import ArgumentError, ModelError, show_value
from elman.scan.lengths import Lengths
from elman.scan.packing import Packing, Segments
from elman.scan.table_lookup import TableLookup, find_tensor
from elman.shapes import Float, Tensor


@dataclass(frozen=True)
class Execution:
    """How a batch is to be run. Layers, directions and parts of a compound share it, and so its packing."""

    lengths: Lengths | None  # of the sequences, where there is a mask
    reverse: bool
    executor: str  # the one asked for, or "auto"
    recorded: bool  # as a CUDA graph, or rehearsed for it
    autocast: torch.dtype | None  # the precision of autocast where it is on
    rows: int | torch.SymInt = 0  # of the batch
    places: int | torch.SymInt = 0  # of the batch, with its padding: rows times steps
    lookup: TableLookup | None = None  # where the input came from a table
    packed: Packing | None = None  # how tokens lie that parts hand to each other, where they are no (B, T, H)

    @classmethod
    def begin(
        cls, given: Tensor | TableLookup, mask: Tensor | None, *, reverse: bool = False, executor: str = "auto"
    ) -> Execution:
        """What is known when a run begins, here and now."""
        xs, lookup = find_tensor(given), given if isinstance(given, TableLookup) else None
        check_tensors(xs=xs, mask=mask)
        lengths = None if mask is None else Lengths(mask)
        if xs.dim() != 3:
            raise ModelError(f"xs must be (batch, time, features), got {tuple(xs.shape)}")
        rows = xs.shape[0]
        places = rows * xs.shape[1]  # numel() would fix a length that torch.export leaves open
        return cls(lengths, reverse, executor, is_recording(), autocast_dtype(xs), rows, places, lookup)

    @property
    def mask(self) -> Tensor | None:
        return None if self.lengths is None else self.lengths.mask

    def like(self, xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"]) -> Float[Tensor, "B T D"]:
        """xs, or where its tokens are packed something of the shape that they had."""
        return xs if self.packed is None else xs[:1, None].expand(self.packed.rows, self.packed.steps, -1)

    @property
    def has_padding(self) -> bool:
        """Is any token masked? On a GPU the first to ask waits for it."""
        return self.lengths is not None and not self.lengths.full

    def find_lookup(self, xs: Tensor) -> TableLookup | None:
        """The table that these xs came from; None where they are no rows of one, or the outputs of a layer."""
        return self.lookup if self.lookup is not None and self.lookup.xs is xs else None

    def packing(self, xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"]) -> Packing:
        """Where the tokens of the batch lie without their padding."""
        if self.lengths is not None and self.packed is not None:
            return self.lengths.row_packing(self.reverse, given=self.packed.reverse)
        if self.lengths is not None and self.has_padding:
            return self.lengths.packing(self.reverse)
        rows, steps = xs.shape[:2]
        return Packing(rows, steps, [rows] * steps, None, None, self.reverse)

    def segments(self, xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"]) -> Segments:
        """Where the tokens lie when one row follows the other."""
        if self.lengths is not None and self.has_padding:
            return self.lengths.segments
        rows, steps = xs.shape[:2]
        starts = torch.arange(0, rows * steps + 1, max(steps, 1), device=xs.device)
        return Segments(rows, steps, None, starts)

    @property
    def segment_moves(self) -> tuple[Tensor, Tensor] | None:
        """What puts packed rows so, and what puts them back; None where none are packed."""
        if self.lengths is None or self.packed is None:
            return None
        return self.lengths.segment_moves(self.packed.reverse)


ELSEWHERE = "it runs on other devices"
"""The reason of an executor that is out of the question here, and not worth a word where it is explained."""


@dataclass(frozen=True)
class Executor:
    """A way to compute a scan. It may refuse a cell; it never computes another formula."""

    name: str
    run: Callable[[Cell[Any], Tensor, Any, Execution], tuple[Tensor, Any]]
    """y_{1:n} and s_n from the cell, x_{1:n}, s_0 and what is known of this run."""
    unsupported_reason: Callable[[Cell[Any]], str | None] = lambda cell: None
    """Why it cannot run this cell; None where it can."""
    drawback: Callable[[Cell[Any], Execution], str | None] = lambda cell, execution: None
    """Why it is not the fastest of those that can, here and now; None where it is."""
    reads_rows: Callable[[Cell[Any], Execution], bool] = lambda cell, execution: False
    """Does it take packed rows, and give them, where the execution has them?"""


def check_tensors(*, xs: object, mask: object) -> None:
    """Refuse what is no dense tensor, before anything is asked of it; there may be no mask."""
    for name, value in (("xs", xs), ("mask", mask)):
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided:
                raise ArgumentError(f"{name} is {value.layout}; it must be dense: {name}.to_dense()")
            if value.is_nested or value.device.type == "meta":
                what = "nested" if value.is_nested else "on the device meta, without numbers"
                raise ArgumentError(f"{name} is {what}; it must be a tensor (batch, steps, ...) of numbers")
        elif value is not None or name == "xs":
            raise ArgumentError(f"{name} is {show_value(value)}; it must be a tensor (torch.as_tensor)")


def check_mask(xs: Tensor, mask: Tensor | None) -> None:
    """Refuse a mask that does not say of each token whether it is one."""
    if mask is not None and mask.dtype != torch.bool:
        raise ModelError(f"mask must be bool, true on real tokens, got {mask.dtype}")
    if mask is not None and mask.shape != xs.shape[:2]:
        raise ModelError(f"mask must be {tuple(xs.shape[:2])} like xs, got {tuple(mask.shape)}")


def autocast_dtype(like: Tensor) -> torch.dtype | None:
    device = like.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None


def compute_dtype(like: Tensor) -> torch.dtype:
    """That of autocast where it is on, else that of the tensor."""
    return autocast_dtype(like) or like.dtype
