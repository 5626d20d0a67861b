"""A mixture of softmaxes: a state may speak of several contexts at once (Yang et al. 2018)."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import dropout

from elman.errors import ModelError
from elman.layers.cross_entropy import linear_nll, use_triton_kernel
from elman.layers.embedding import Embedding
from elman.layers.softmax import Output, Softmax
from elman.scan.execution import compute_dtype
from elman.shapes import Float, Int, Tensor


class Mixture(Output):
    """p = Σ_k π_k softmax(W v_k + b),    v_k = tanh(V_k h + c_k),    π = softmax(M h)

    The log-probabilities of one softmax are no richer than W h; those of a mixture have no such bound. W is
    tied as that of a `Softmax`, and has one row a token. ``dropout`` is that of the v_k, in training.
    """

    def __init__(
        self, size: int, vocabulary: int, tied: Embedding | None = None, *, count: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if count < 2:
            raise ModelError(f"a mixture has at least 2 softmaxes, not {count}")
        width = tied.output_size if tied else size
        self.count, self.dropout = count, dropout
        self.softmax = Softmax(width, vocabulary, tied)
        self.V = nn.Linear(size, count * width)
        self.M = nn.Linear(size, count, bias=False)

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        each = self.vectors(h).unbind(-2)
        total, *shares = self.log_shares(h)[..., None].unbind(-2)
        # One softmax after the other: never more than two matrices as large as what is returned.
        total = total + self.softmax.log_probabilities(each[0])
        for share, v in zip(shares, each[1:], strict=True):
            total = torch.logaddexp(total, share + self.softmax.log_probabilities(v))
        return total

    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        return mixture_nll(*self._parts(h), targets.flatten()).view(targets.shape)

    def loss(
        self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"], weights: Tensor | None = None
    ) -> Float[Tensor, ""]:
        if not (torch.is_grad_enabled() and use_triton_kernel(h, self.softmax.W)):
            return super().loss(h, targets, weights)
        from elman.layers.cross_entropy_cuda import mixture_row_cross_entropy

        counted = None if weights is None else weights.flatten()
        v, log_shares, W, b = self._parts(h)
        v = v.to(compute_dtype(v))
        return mixture_row_cross_entropy(v, log_shares, W, b, targets.flatten(), counted)

    def _parts(self, h: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """v and log π of all tokens, one a row, and W and b."""
        rows = h.flatten(end_dim=-2)
        return self.vectors(rows), self.log_shares(rows), self.softmax.W, self.softmax.b

    def vectors(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N K E"]:
        """What each softmax sees."""
        v = torch.tanh(self.V(h))
        return dropout(v.view(*h.shape[:-1], self.count, -1), self.dropout, self.training)

    def log_shares(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N K"]:
        """log π: how much each softmax has to say, summed in float32 or better."""
        scores: Tensor = self.M(h)
        return scores.to(torch.promote_types(scores.dtype, torch.float32)).log_softmax(-1)


def mixture_nll(
    v: Float[Tensor, "N K E"],
    log_shares: Float[Tensor, "N K"],
    W: Float[Tensor, "V E"],
    b: Float[Tensor, " V"],
    targets: Int[Tensor, " N"],
) -> Float[Tensor, " N"]:
    """-log Σ_k π_k p_k(target): what it costs each softmax, in chunks of its logits, then the mixture."""
    repeated = targets[:, None].expand(v.shape[:2])
    each = linear_nll(v.flatten(0, 1), W, b, repeated.flatten())
    return -(log_shares - each.view(log_shares.shape)).logsumexp(-1)
