"""From the outputs at all positions to one vector: how a sequence is summed up."""

from __future__ import annotations

import torch
from torch import nn

from elman.errors import ModelError
from elman.kernels.large_products import linear_large
from elman.layers.rnn import select_last
from elman.shapes import Bool, Float, Tensor


class LastPooling(nn.Module):
    """y_n: the output at the last token."""

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B H"]:
        return select_last(ys, mask)


class EndsPooling(nn.Module):
    """Both ends of a bidirectional RNN: its forward half at the last token, its backward half at the first."""

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B H"]:
        ahead, back = ys.chunk(2, dim=-1)
        return torch.cat([select_last(ahead, mask), select_last(back, mask, reverse=True)], dim=-1)


class MeanPooling(nn.Module):
    """The mean of all real positions."""

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B H"]:
        total = (ys * mask[..., None]).sum(1)
        return total / mask.sum(1, keepdim=True).clamp(min=1)


class MaxPooling(nn.Module):
    """The largest value of each feature over all real positions; zero for an empty sequence."""

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B H"]:
        if not ys.shape[1]:
            return ys.new_zeros(ys.shape[0], ys.shape[2])
        largest = ys.masked_fill(~mask[..., None], -torch.inf).amax(1)
        return largest.masked_fill(~mask.any(1, keepdim=True), 0)


class AttentionPooling(nn.Module):
    """Σ α_i y_i with α = softmax(v · tanh(W y + b)) (Yang et al. 2016)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.W, self.v = nn.Linear(size, size), nn.Linear(size, 1, bias=False)

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B H"]:
        scores = self.v(torch.tanh(linear_large(ys, self.W.weight, self.W.bias))).squeeze(-1)
        # An empty sequence has nothing to attend to: its weights are zero, not NaN.
        alpha = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
        return torch.einsum("bt,bth->bh", alpha, ys)


class ConcatPooling(nn.Module):
    """Two ways of pooling, side by side."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B HH"]:
        return torch.cat([self.first(ys, mask), self.second(ys, mask)], dim=-1)


class WindowPooling(nn.Module):
    """The first ``width`` positions side by side, zeros where there are fewer: a fixed window."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, ys: Float[Tensor, "B T H"], mask: Bool[Tensor, "B T"]) -> Float[Tensor, "B WH"]:
        ys = (ys * mask[..., None])[:, : self.width]
        rows, steps, size = ys.shape
        padded = torch.cat([ys, ys.new_zeros(rows, self.width - steps, size)], 1)
        return padded.flatten(1)


POOLS = ("last", "ends", "mean", "max", "mean+max", "attention")
"""The names of what `build_pooling` builds."""


def build_pooling(name: str, size: int, *, bidirectional: bool) -> tuple[nn.Module, int]:
    """The pooling of that name over ``size`` features, and how many features it gives."""
    if name == "ends" and not bidirectional:
        raise ModelError("the pooling 'ends' is for two directions; take 'last' for one")
    if name == "mean+max":
        return ConcatPooling(MeanPooling(), MaxPooling()), 2 * size
    if name == "attention":
        return AttentionPooling(size), size
    simple = {"last": LastPooling, "ends": EndsPooling, "mean": MeanPooling, "max": MaxPooling}
    return simple[name](), size
