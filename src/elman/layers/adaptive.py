"""Softmax in clusters: rare words cost little (Grave et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from elman.errors import ModelError
from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Float, Int, Tensor


class AdaptiveSoftmax(nn.Module):
    """A head of the frequent words and of the clusters, a tail for each cluster: p(w) = p(c) p(w | c).

    Ids must go from frequent to rare, as those of a `Vocab` do; ``cutoffs`` are the first ids of the clusters.
    The k-th has rows of size / shrink^k. Shapes depend on the targets, so this is nothing for CUDA graphs.
    """

    def __init__(
        self, size: int, vocabulary: int, cutoffs: Sequence[int], *, shrink: float = 4.0
    ) -> None:
        super().__init__()
        edges = [0, *cutoffs, vocabulary]
        if len(edges) < 3 or edges != sorted(set(edges)):
            raise ModelError(
                f"cutoffs must rise and lie between 1 and {vocabulary - 1}, found {list(cutoffs)}"
            )
        if size // shrink ** len(cutoffs) < 1:
            raise ModelError(
                f"rows of size {size} cannot shrink {len(cutoffs)} times by {shrink:g}; "
                "give fewer cutoffs or a smaller shrink"
            )
        self.clusters = nn.AdaptiveLogSoftmaxWithLoss(size, vocabulary, list(cutoffs), shrink)

    def logits(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        return self.log_probabilities(h)

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        with torch.autocast(h.device.type, enabled=False):
            rows = self.clusters.log_prob(self._rows(h))
        return rows.view(*h.shape[:-1], -1)

    def nats(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        # Under autocast PyTorch's module mixes two precisions, and fails.
        with torch.autocast(h.device.type, enabled=False):
            found: Tensor = self.clusters(self._rows(h), targets.flatten()).output
        return -found.view(targets.shape)

    def loss(
        self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"], weights: Tensor | None = None
    ) -> Float[Tensor, ""]:
        return weighted_mean(self.nats(h, targets), weights)

    def _rows(self, h: Tensor) -> Tensor:
        return h.flatten(end_dim=-2).to(self.clusters.head.weight.dtype)
