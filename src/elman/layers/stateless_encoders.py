"""Encoders without a recurrence: positions look at their neighbours, or every one at every other."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import cast

import torch
from torch import nn
from torch.nn.functional import glu

from elman.errors import ModelError
from elman.shapes import Bool, Float, Tensor


class _PositionEncoder(nn.Module, ABC):
    """Layers that know the place of a word from what is added to it: x W + positions."""

    def __init__(self, input_size: int, size: int, dropout: float) -> None:
        super().__init__()
        self.input_size, self.output_size = input_size, size
        # Normalised, a word weighs as much as its position, whatever the spread of the embedding.
        self.read = nn.Sequential(nn.Linear(input_size, size), nn.LayerNorm(size))
        self.drop = nn.Dropout(dropout)

    def forward(self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        if not xs.numel():
            return xs.new_zeros(*mask.shape, self.output_size)
        ys = self.read(xs.masked_fill(~mask[..., None], 0))
        return self._climb(self.drop(ys + positions(mask.shape[1], self.output_size, ys)), mask)

    @abstractmethod
    def _climb(self, ys: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """Through the layers; zeros at the padding."""


class ConvolutionalEncoder(_PositionEncoder):
    """x W + positions, then layers y' = (y + a ⊗ σ(b)) √½ with [a b] = conv(y) (Gehring et al. 2017)."""

    def __init__(self, input_size: int, size: int, layers: int, kernel: int = 3, dropout: float = 0.0) -> None:
        if kernel % 2 == 0:
            raise ModelError(f"a kernel of {kernel} has no middle; take an odd one, such as {kernel + 1}")
        super().__init__(input_size, size, dropout)
        # With a and b of variance 3 the mean of σ(b)² is 1/3: a ⊗ σ(b) varies as much as y, at any depth.
        spread = math.sqrt(3 * (1 - dropout) / (kernel * size))
        self.layers = nn.ModuleList()
        for _ in range(layers):
            layer = nn.Conv1d(size, 2 * size, kernel, padding=kernel // 2)
            nn.init.normal_(layer.weight, std=spread)
            self.layers.append(layer)

    def _climb(self, ys: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        ys, padding = ys.transpose(1, 2), ~mask[:, None]
        for layer in self.layers:
            # Beyond the end a convolution reads zeros; the padding must read like that end.
            ys = ys.masked_fill(padding, 0)
            ys = (ys + glu(layer(self.drop(ys)), 1)) * math.sqrt(0.5)
        return ys.masked_fill(padding, 0).transpose(1, 2).contiguous()


class TransformerEncoder(_PositionEncoder):
    """x W + positions, then layers of self-attention and a feed-forward net (Vaswani et al. 2017).

    Each layer normalises what it reads, not what it gives (Xiong et al. 2020): so it trains without warm-up.
    """

    def __init__(self, input_size: int, size: int, layers: int, heads: int = 4, dropout: float = 0.0) -> None:
        if size % heads:
            raise ModelError(f"{size} units cannot be shared equally among {heads} heads")
        super().__init__(input_size, size, dropout)
        # Time first: for batches first torch has a kernel whose memory is quadratic in the length.
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(size, heads, 4 * size, dropout, norm_first=True) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(size)

    def _climb(self, ys: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        ys = ys.transpose(0, 1)
        # A row without a token looks at its own padding: looking at nothing is NaN in some kernels.
        unseen = ~mask & mask.any(1, keepdim=True)
        for layer in self.layers:
            ys = layer(ys, src_key_padding_mask=unseen)
        return cast(Tensor, self.norm(ys.transpose(0, 1)).masked_fill(~mask[..., None], 0))


def positions(steps: int, size: int, like: Tensor) -> Float[Tensor, "S E"]:
    """sin(i / 10000^{2k/size}) and cos of the same, side by side, at each position i of any length."""
    # Half precision cannot tell positions beyond 2048 apart.
    dtype = torch.promote_types(like.dtype, torch.float32)
    place = torch.arange(steps, dtype=dtype, device=like.device)
    k = torch.arange(0, size, 2, dtype=dtype, device=like.device)
    angles = place[:, None] / 10000 ** (k / size)
    both = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
    return both[:, :size].to(like.dtype)
