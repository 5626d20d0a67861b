"""A second loss for the encoder: it spells the target by itself, from left to right (Kim et al. 2017).

Each token of the source writes up to ``SLOTS`` tokens of the target or nothing, and all ways to spell the
target so are summed (CTC, Graves et al. 2006). Attention then finds what is to be written where it was read.
"""

from __future__ import annotations

from math import log

from torch import nn

from elman.kernels.ctc import ctc_nll
from elman.kernels.large_products import linear_large
from elman.layers.encoder import EncoderOutput
from elman.shapes import Bool, Float, Int, Tensor
from elman.text.vocab import EOS, PAD, UNK

SLOTS = 2  # tokens that one of the source can write


class Speller(nn.Module):
    """p(slot_k of x_j) = softmax(W_k h_j); <pad> is the blank, for no target has it."""

    def __init__(self, size: int, vocabulary: int) -> None:
        super().__init__()
        self.W = nn.Linear(size, vocabulary * SLOTS)  # the slots of a token stand together

    def grow_from(self, small: Speller) -> None:
        """Further tokens are together as likely as an unknown one."""
        known, unknown = small.W.out_features, slice(UNK * SLOTS, (UNK + 1) * SLOTS)
        further = (self.W.out_features - known) // SLOTS
        if further:
            self.W.weight[known:] = small.W.weight[unknown].repeat(further, 1)
            self.W.bias[known:] = small.W.bias[unknown].repeat(further) - log(further)

    def nll(
        self,
        encoded: EncoderOutput,
        target: Int[Tensor, "B T"],
        mask: Bool[Tensor, "B T"],
        *,
        refuse: bool = False,
    ) -> Float[Tensor, " B"]:
        """-log p of each target without its end; 0, or ∞ to ``refuse`` it, where its source is too short."""
        return ctc_nll(
            linear_large(encoded.ys, self.W.weight, self.W.bias),
            target,
            encoded.mask.sum(1),
            (mask & (target != EOS)).sum(1),
            slots=SLOTS,
            blank=PAD,
            zero_infinity=not refuse,
        )
