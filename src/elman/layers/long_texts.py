"""Long texts at a bounded cost: which positions are read, and in how many chunks side by side."""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from elman.shapes import Bool, Float, Tensor


def keep_ends(
    xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"], most: int
) -> tuple[Float[Tensor, "B S D"], Bool[Tensor, "B S"]]:
    """The first and the last positions of each row, ``most`` in all; rows that are no longer stay whole."""
    if xs.shape[1] <= most:
        return xs, mask
    place, lengths = torch.arange(most, device=xs.device), mask.sum(1, keepdim=True)
    first = place < most - most // 2
    source = torch.where(first | (lengths <= most), place, lengths - most + place)
    return xs.gather(1, source[..., None].expand(-1, -1, xs.shape[2])), place < lengths


def split_chunks(
    xs: Float[Tensor, "B T D"], mask: Bool[Tensor, "B T"], size: int
) -> tuple[Float[Tensor, "N S D"], Bool[Tensor, "N S"]]:
    """Each row as chunks of ``size`` positions, one below the other; the last one is padded."""
    missing = -xs.shape[1] % size
    xs, mask = pad(xs, (0, 0, 0, missing)), pad(mask, (0, missing))
    return xs.reshape(-1, size, xs.shape[2]), mask.reshape(-1, size)


def join_chunks(ys: Float[Tensor, "N S H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B T H"]:
    """Chunks side by side again, as rows of the shape that ``mask`` has."""
    rows, steps = mask.shape
    return ys.reshape(rows, -1, ys.shape[2])[:, :steps]
