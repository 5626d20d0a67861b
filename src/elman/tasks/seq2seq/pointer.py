"""Copying: a word is taken from the vocabulary or from where attention looks (See et al. 2017).

p(w) = g p_vocabulary(w) + (1 - g) Σ_{j: x_j = w} α_j        g = σ(v · o + b)
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import logsigmoid

from elman.shapes import Float, Int, Tensor

_LEAST = 1e-20  # of a probability, before its logarithm


class Pointer(nn.Module):
    """The mixture. Ids from the size of the vocabulary on are words of the source that it does not know."""

    def __init__(self, size: int, vocabulary: int) -> None:
        super().__init__()
        self.vocabulary = vocabulary
        self.gate = nn.Linear(size, 1)

    def nll(
        self,
        os: Float[Tensor, "B T O"],
        weights: Float[Tensor, "B T S"],
        nll: Float[Tensor, "B T"],
        targets: Int[Tensor, "B T"],
        copies: Int[Tensor, "B S"],
    ) -> Float[Tensor, "B T"]:
        """What each target costs; ``nll`` is what it costs by the vocabulary alone."""
        gate = self.gate(os)[..., 0].to(weights.dtype)
        own = logsigmoid(gate) - nll
        own = own.masked_fill(targets >= self.vocabulary, -torch.inf)
        here = (targets[:, :, None] == copies[:, None]).to(weights.dtype)
        looked = (weights * here).sum(-1).clamp(min=_LEAST).log()
        return -torch.logaddexp(own, logsigmoid(-gate) + looked)

    def log_probabilities(
        self,
        o: Float[Tensor, "B O"],
        weights: Float[Tensor, "B S"],
        log_probs: Float[Tensor, "B V"],
        copies: Int[Tensor, "B S"],
        unknown: int,
    ) -> Float[Tensor, "B W"]:
        """Of all tokens, the last ``unknown`` of them words that only the sources have, each its own."""
        gate = self.gate(o).to(weights.dtype)
        own = (logsigmoid(gate) + log_probs).exp()
        both = torch.cat([own, own.new_zeros(len(own), unknown)], 1)
        both = both.scatter_add(1, copies, (torch.sigmoid(-gate) * weights).to(both.dtype))
        there = torch.arange(both.shape[1], device=o.device) < self.vocabulary
        there = there.expand_as(both).scatter(1, copies, True)
        return both.clamp(min=_LEAST).log().masked_fill(~there, -torch.inf)
