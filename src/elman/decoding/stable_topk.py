"""The best of each row, the same on every device."""

from __future__ import annotations

import torch

from elman.cuda_graph import is_recording
from elman.shapes import Float, Int, Tensor

_BLOCK = 64  # columns


def stable_topk(values: Float[Tensor, "B V"], count: int) -> tuple[Float[Tensor, "B k"], Int[Tensor, "B k"]]:
    """The ``count`` greatest values of each row (all, if there are fewer), greatest first, and their columns.

    Of equal values the lower column comes first. Which column stands for a value of -inf is not determined.
    """
    if count >= values.shape[1] or is_recording():  # whether there are ties, a recording cannot ask
        top, columns = values.sort(dim=1, descending=True, stable=True)
        return top[:, :count], columns[:, :count]
    top, columns = _greatest(values, count + 1)
    # Which of several equal values topk takes differs between devices; it matters only at the edge.
    edge = top[:, count]
    tied = (top[:, count - 1] == edge) & (edge > float("-inf"))
    if tied.any():
        _settle(values, top, columns, tied)
    columns, order = columns[:, :count].sort(dim=1)
    top, again = top.gather(1, order).sort(dim=1, descending=True, stable=True)
    return top, columns.gather(1, again)


def _greatest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """``topk``; on a CPU, which is slow at it, of the blocks of columns with the greatest maxima alone."""
    rows, width = values.shape
    blocks = width // _BLOCK
    if values.device.type != "cpu" or blocks < 2 * count:
        top, columns = values.topk(count)
        return top, columns
    end = blocks * _BLOCK
    even = values[:, :end].view(rows, blocks, _BLOCK)
    chosen = even.amax(2).topk(count).indices
    some = even.gather(1, chosen[..., None].expand(-1, -1, _BLOCK)).flatten(1)
    top, place = torch.cat([some, values[:, end:]], 1).topk(count)
    block, within = place // _BLOCK, place % _BLOCK
    known = torch.cat([chosen, chosen.new_full((rows, 1), blocks)], 1)  # the rest comes last
    first = known.gather(1, block)
    return top, first * _BLOCK + within


def _settle(values: Tensor, top: Tensor, columns: Tensor, tied: Tensor) -> None:
    """Of the values that equal the last, in the tied rows, take those of the lowest columns."""
    rows, last = tied.nonzero()[:, 0], top.shape[1] - 1
    edge = top[rows, last]
    above = (top[rows, :last] > edge[:, None]).sum(1)
    row, column = (values[rows] == edge[:, None]).nonzero(as_tuple=True)
    place = above[row] + torch.arange(len(row), device=row.device) - torch.searchsorted(row, row)
    kept = place < last
    columns[rows[row[kept]], place[kept]] = column[kept]
