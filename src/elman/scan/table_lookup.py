"""Inputs that are rows of a table: what a cell makes of a row is computed once, however often the row occurs.

    W E[w_i] + b = (E Wᵀ + b)[w_i]

So the product of all tokens with W becomes one of the rows that occur, and so do its gradients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch.nn.functional import embedding

from elman.cells import Formulaic
from elman.kernels.large_products import linear_large
from elman.kernels.reused_memory import reuse_empty
from elman.scan.packing import Packing
from elman.shapes import Float, Int, Tensor

_NARROWEST = 32  # features: of fewer, the product takes no longer than to look its results up
_MOST_TYPES = 0.7  # of the tokens: with more of them, to look results up takes what it saves


@dataclass(frozen=True)
class TableLookup:
    """xs = table[ids], and where it came from. The row ``padding`` is trained by nobody."""

    xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"]
    table: Float[Tensor, "V D"]
    ids: Int[Tensor, "B T"] | Int[Tensor, " N"]
    padding: int | None = None
    sparse: bool = False  # whether the gradient of the table has those rows only

    @cached_property
    def types(self) -> tuple[Int[Tensor, " U"], Int[Tensor, "B T"] | Int[Tensor, " N"]]:
        """The rows that occur, and which of them each token is."""
        rows, place = torch.unique(self.ids, return_inverse=True)
        return rows, place

    def rows(self) -> Float[Tensor, "U D"]:
        """Those that occur."""
        return embedding(self.types[0], self.table, self.padding, sparse=self.sparse)

    def pack(self, rows: Float[Tensor, "N D"], packed: Packing) -> TableLookup:
        """The same of packed rows."""
        return replace(self, xs=rows, ids=packed.pack(self.ids[..., None])[:, 0])

    def is_worth_folding(self, cell: Formulaic) -> bool:
        """Do rows occur often enough, and does the cell multiply its input by W before the first step?"""
        if cell.mixes_input or not self.table.is_cpu or self.table.shape[1] < _NARROWEST:
            return False
        return len(self.types[0]) <= _MOST_TYPES * self.ids.numel()


def find_tensor(xs: Tensor | TableLookup) -> Tensor:
    return xs.xs if isinstance(xs, TableLookup) else xs


def project_rows(cell: Formulaic, rows: Float[Tensor, "U D"], place: Int[Tensor, " N"]) -> tuple[Tensor, ...]:
    """What `Formulaic.project` gives for the tokens rows[place]."""
    gates: Tensor = _PickRows.apply(linear_large(rows, *cell.affine()), place)  # type: ignore[no-untyped-call]
    return cell.step_inputs(gates)


def pack_places(lookup: TableLookup, packed: Packing) -> Int[Tensor, " N"]:
    """Which of the rows that occur each packed token is."""
    return packed.pack(lookup.types[1][..., None])[:, 0]


class _PickRows(torch.autograd.Function):
    """`torch.index_select` of rows, into memory that is used again."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, place: Tensor) -> Tensor:
        ctx.save_for_backward(place)
        ctx.count = len(table)
        if table.dtype != torch.float32:
            return table.index_select(0, place)
        out = reuse_empty(len(place), table.shape[1])
        return torch.index_select(table, 0, place, out=out)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (place,) = ctx.saved_tensors
        return gradient.new_zeros(ctx.count, gradient.shape[1]).index_add(0, place, gradient), None
