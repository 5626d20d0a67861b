"""Rows of a matrix put elsewhere, with gradients that are such moves, too: no row is added to another."""

from __future__ import annotations

from typing import Any

import torch

from elman.kernels.reused_memory import reuse_empty
from elman.shapes import Float, Int, Tensor

Numbers = Float[Tensor, "_ _"] | Int[Tensor, "_ _"]


def select_rows(table: Tensor, places: Int[Tensor, " N"]) -> Tensor:
    """`torch.index_select` of rows without gradients, into memory that is used again."""
    if table.dtype != torch.float32 or not table.is_cpu:
        return table.index_select(0, places)
    return torch.index_select(table, 0, places, out=reuse_empty(len(places), table.shape[1]))


def take_rows(table: Numbers, places: Int[Tensor, " N"]) -> Numbers:
    """table[places], where no place stands twice."""
    if not table.is_cpu:  # there torch's own moves cost nothing beside their launch
        return table.index_select(0, places)
    taken: Tensor = _Take.apply(table, places)  # type: ignore[no-untyped-call]
    return taken


def place_rows(rows: Numbers, places: Int[Tensor, " N"], count: int) -> Numbers:
    """``count`` rows: these at their places, zeros elsewhere."""
    if not rows.is_cpu:
        return rows.new_zeros(count, rows.shape[1]).index_copy(0, places, rows)
    placed: Tensor = _Place.apply(rows, places, count)  # type: ignore[no-untyped-call]
    return placed


def permute_rows(rows: Numbers, order: Int[Tensor, " N"], inverse: Int[Tensor, " N"]) -> Numbers:
    """rows[order]; ``inverse`` undoes it."""
    permuted: Tensor = _Permute.apply(rows, order, inverse)  # type: ignore[no-untyped-call]
    return permuted


class _Take(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, places: Tensor) -> Tensor:
        ctx.save_for_backward(places)
        ctx.count = len(table)
        return select_rows(table, places)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (places,) = ctx.saved_tensors
        return place_rows(gradient, places, ctx.count), None


class _Place(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(places)
        if rows.dtype != torch.float32:
            return rows.new_zeros(count, rows.shape[1]).index_copy_(0, places, rows)
        # To add rows to zeros takes less time than to copy them.
        return reuse_empty(count, rows.shape[1]).zero_().index_add_(0, places, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (places,) = ctx.saved_tensors
        return take_rows(gradient, places), None, None


class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(order, inverse)
        return select_rows(rows, order)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        order, inverse = ctx.saved_tensors
        return permute_rows(gradient, inverse, order), None, None
