"""Dropout with one mask per sequence, and dropout of whole words."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import dropout

from elman.shapes import Bool, Float, Int, Tensor


class SequenceDropout(nn.Module):
    """Drops features of a sequence, the same ones at every position (Gal & Ghahramani 2016)."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, xs: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        if not self.training or not self.p:
            return xs
        return xs * dropout(xs.new_ones(xs.shape[0], 1, xs.shape[2]), self.p)


class WordDropout(nn.Module):
    """Replaces tokens by ``unknown``, so that a net learns to do without any one of them."""

    def __init__(self, p: float, unknown: int) -> None:
        super().__init__()
        self.p, self.unknown = p, unknown

    def forward(self, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]) -> Int[Tensor, "B T"]:
        if not self.training or not self.p:
            return ids
        dropped = torch.rand(ids.shape, device=ids.device) < self.p
        return ids.masked_fill(dropped & mask, self.unknown)
