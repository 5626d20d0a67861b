"""The best of each row, the same on every device."""

from __future__ import annotations

from elman.shapes import Float, Int, Tensor


def best(
    values: Float[Tensor, "B V"], count: int
) -> tuple[Float[Tensor, "B k"], Int[Tensor, "B k"]]:
    """The ``count`` greatest values of each row (all, if there are fewer), greatest first, and their columns.

    Of equal values the lower column comes first. Which column stands for a value of -inf is not determined.
    """
    if count >= values.shape[1]:
        top, columns = values.sort(dim=1, descending=True, stable=True)
        return top, columns
    top, columns = values.topk(count + 1)
    # Which of several equal values topk takes differs between devices; it matters only at the edge.
    edge = top[:, count]
    tied = (top[:, count - 1] == edge) & (edge > float("-inf"))
    if tied.any():
        ordered = values[tied].sort(dim=1, descending=True, stable=True)
        top[tied], columns[tied] = (x[:, : count + 1] for x in ordered)
    columns, order = columns[:, :count].sort(dim=1)
    top, again = top.gather(1, order).sort(dim=1, descending=True, stable=True)
    return top, columns.gather(1, again)
