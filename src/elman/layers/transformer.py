"""A Transformer as an encoder: every position looks at every other."""

from __future__ import annotations

import torch
from torch import nn

from elman.errors import ModelError
from elman.shapes import Bool, Float, Tensor


class TransformerEncoder(nn.Module):
    """x W + positions, then layers of self-attention and a feed-forward net (Vaswani et al. 2017).

    Each layer normalises what it reads, not what it gives (Xiong et al. 2020): so it trains without warm-up.
    """

    def __init__(
        self, input_size: int, size: int, layers: int, heads: int = 4, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if size % heads:
            raise ModelError(f"{size} units cannot be shared equally among {heads} heads")
        self.input_size, self.output_size = input_size, size
        # Normalised, a word weighs as much as its position, whatever the spread of the embedding.
        self.read = nn.Sequential(nn.Linear(input_size, size), nn.LayerNorm(size))
        self.drop = nn.Dropout(dropout)
        # Time first: for batches first torch has a kernel whose memory is quadratic in the length.
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(size, heads, 4 * size, dropout, norm_first=True)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(size)

    def forward(
        self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]
    ) -> Float[Tensor, "B S E"]:
        if not xs.numel():
            return xs.new_zeros(*mask.shape, self.output_size)
        padding = ~mask[..., None]
        ys = self.read(xs.masked_fill(padding, 0))
        ys = self.drop(ys + positions(mask.shape[1], self.output_size, ys)).transpose(0, 1)
        # A row without a token looks at its own padding: looking at nothing is NaN in some kernels.
        unseen = ~mask & mask.any(1, keepdim=True)
        for layer in self.layers:
            ys = layer(ys, src_key_padding_mask=unseen)
        result: Tensor = self.norm(ys.transpose(0, 1)).masked_fill(padding, 0)
        return result


def positions(steps: int, size: int, like: Tensor) -> Float[Tensor, "S E"]:
    """sin(i / 10000^{2k/size}) and cos of the same, side by side, at each position i of any length."""
    # Half precision cannot tell positions beyond 2048 apart.
    dtype = torch.promote_types(like.dtype, torch.float32)
    place = torch.arange(steps, dtype=dtype, device=like.device)
    k = torch.arange(0, size, 2, dtype=dtype, device=like.device)
    angles = place[:, None] / 10000 ** (k / size)
    both = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
    return both[:, :size].to(like.dtype)
