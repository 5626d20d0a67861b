"""Convolutions as an encoder: every position looks at its neighbours, layer by layer further."""

from __future__ import annotations

import math

from torch import nn
from torch.nn.functional import glu

from elman.errors import ModelError
from elman.layers.transformer import positions
from elman.shapes import Bool, Float, Tensor


class ConvolutionalEncoder(nn.Module):
    """x W + positions, then layers y' = (y + a ⊗ σ(b)) √½ with [a b] = conv(y) (Gehring et al. 2017)."""

    def __init__(
        self, input_size: int, size: int, layers: int, kernel: int = 3, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if kernel % 2 == 0:
            raise ModelError(
                f"a kernel of {kernel} has no middle; take an odd one, such as {kernel + 1}"
            )
        self.input_size, self.output_size = input_size, size
        # Normalised, a word weighs as much as its position, whatever the spread of the embedding.
        self.read = nn.Sequential(nn.Linear(input_size, size), nn.LayerNorm(size))
        self.drop = nn.Dropout(dropout)
        # With a and b of variance 3 the mean of σ(b)² is 1/3: a ⊗ σ(b) varies as much as y, at any depth.
        spread = math.sqrt(3 * (1 - dropout) / (kernel * size))
        self.layers = nn.ModuleList()
        for _ in range(layers):
            layer = nn.Conv1d(size, 2 * size, kernel, padding=kernel // 2)
            nn.init.normal_(layer.weight, std=spread)
            self.layers.append(layer)

    def forward(
        self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]
    ) -> Float[Tensor, "B S E"]:
        if not xs.numel():
            return xs.new_zeros(*mask.shape, self.output_size)
        padding = ~mask[..., None]
        ys = self.read(xs.masked_fill(padding, 0))
        ys = self.drop(ys + positions(mask.shape[1], self.output_size, ys))
        ys, padding = ys.transpose(1, 2), padding.transpose(1, 2)
        for layer in self.layers:
            # Beyond the end a convolution reads zeros; the padding must read like that end.
            ys = ys.masked_fill(padding, 0)
            ys = (ys + glu(layer(self.drop(ys)), 1)) * math.sqrt(0.5)
        result: Tensor = ys.masked_fill(padding, 0).transpose(1, 2).contiguous()
        return result
