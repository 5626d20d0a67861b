"""From a state to the next token: softmax over the vocabulary, as a whole or in clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import log

import torch
from torch import nn

from elman.errors import ModelError
from elman.kernels.few_rows import linear_few
from elman.kernels.large_products import linear_large
from elman.layers.cross_entropy import linear_cross_entropy, linear_nll, weighted_mean
from elman.layers.embedding import UNKNOWN, Embedding
from elman.layers.sampled_softmax import sampled_cross_entropy
from elman.number_format import format_number
from elman.shapes import Float, Int, Tensor


class Output(nn.Module, ABC):
    """A distribution over the vocabulary for every state."""

    def features(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N D"]:
        """The part of what was read that is the network's: all."""
        return h

    def logits(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """Scores whose softmax is the distribution."""
        return self.log_probabilities(h)

    @abstractmethod
    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """The logarithms of all probabilities."""

    @abstractmethod
    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        """What each target costs: -log of its probability."""

    def loss(
        self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"], weights: Tensor | None = None
    ) -> Float[Tensor, ""]:
        """The mean of what is trained on, in nats; ``weights`` (*N), such as a mask, say what counts."""
        return weighted_mean(self.nll(h, targets), weights)


class Softmax(Output):
    """y = softmax(W h + b), exact at any size; with ``tied`` W is the embedding E (Press & Wolf 2017).

    Where h has another size than the rows of E, a matrix P comes between: y = softmax(E P h + b). The tied
    weights stay the embedding's: they are stored and counted there, once. ``smoothing`` is that of the
    labels, in training only; so are ``samples``, the words that stand for all rare ones (0: all are there).
    """

    def __init__(
        self,
        size: int,
        vocabulary: int,
        tied: nn.Parameter | Embedding | None = None,
        *,
        smoothing: float = 0.0,
        samples: int = 0,
    ) -> None:
        super().__init__()
        self.smoothing, self.samples = smoothing, samples
        self.b = nn.Parameter(torch.zeros(vocabulary))
        if tied is None:
            self.own = nn.Parameter(torch.randn(vocabulary, size) * Embedding.spread)
        rows = tied.E.weight if isinstance(tied, Embedding) else tied
        # In a tuple, lest the module register as its own what the embedding has already.
        self._tied = () if rows is None else (rows,)
        self._table = (tied.E,) if isinstance(tied, Embedding) else ()
        if len(self.W) != vocabulary:
            raise ModelError(
                f"an embedding of {len(self.W)} tokens cannot be tied to a vocabulary of {vocabulary}"
            )
        width = self.W.shape[1]
        self.P = nn.Identity() if size == width else nn.Linear(size, width, bias=False)

    @property
    def W(self) -> Float[Tensor, "V E"]:
        """A row for each token."""
        return self._tied[0] if self._tied else self.own

    @torch.no_grad()
    def begin_with(self, counts: Int[Tensor, " V"]) -> None:
        """Begin with tokens as likely as they were counted: what is left to learn is what a context tells."""
        smooth = counts.to(self.b) + 0.1
        self.b.copy_((smooth / smooth.sum()).log())

    def grow_from(self, small: Softmax) -> None:
        """Further tokens are together as likely as an unknown one; a tied embedding sets its own rows."""
        known, further = len(small.b), len(self.b) - len(small.b)
        if further:
            self.b[known:] = small.b[UNKNOWN] - log(further)
            if not self._tied:
                self.own[known:] = small.own[UNKNOWN]

    def logits(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        rows = self.P(h)
        return (linear_few if rows.dim() == 2 else linear_large)(rows, self.W, self.b)

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        return self.logits(h).log_softmax(-1)

    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        nats = linear_nll(self._rows(h), self.W, self.b, targets.flatten())
        return nats.view(targets.shape)

    def loss(
        self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"], weights: Tensor | None = None
    ) -> Float[Tensor, ""]:
        counts = None if weights is None else weights.flatten()
        if self.training and 0 < 2 * self.samples < len(self.W):
            sparse = any(table.sparse for table in self._table)
            given = (self._rows(h), self.W, self.b, targets.flatten(), self.samples, counts)
            return sampled_cross_entropy(*given, sparse=sparse)
        return linear_cross_entropy(
            self._rows(h),
            self.W,
            self.b,
            targets.flatten(),
            weights=counts,
            smoothing=self.smoothing if self.training else 0.0,
        )

    def _rows(self, h: Tensor) -> Tensor:
        h = h.flatten(end_dim=-2)
        return h if isinstance(self.P, nn.Identity) else linear_large(h, self.P.weight)


class AdaptiveSoftmax(Output):
    """A head of the frequent words and the clusters, and their tails: p(w) = p(c) p(w | c) (Grave et al. 2017).

    Ids must go from frequent to rare, as those of a `Vocab` do; ``cutoffs`` are the first ids of the clusters.
    The k-th has rows of size / shrink^k. Shapes depend on the targets, so this is nothing for CUDA graphs.
    """

    def __init__(self, size: int, vocabulary: int, cutoffs: Sequence[int], *, shrink: float = 4.0) -> None:
        super().__init__()
        edges = [0, *cutoffs, vocabulary]
        if len(edges) < 3 or edges != sorted(set(edges)):
            raise ModelError(f"cutoffs must rise and lie between 1 and {vocabulary - 1}, found {list(cutoffs)}")
        if size // shrink ** len(cutoffs) < 1:
            raise ModelError(
                f"rows of size {size} cannot shrink {len(cutoffs)} times by {format_number(shrink)}; "
                "give fewer cutoffs or a smaller shrink"
            )
        self.clusters = nn.AdaptiveLogSoftmaxWithLoss(size, vocabulary, list(cutoffs), shrink)

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        with torch.autocast(h.device.type, enabled=False):
            rows = self.clusters.log_prob(self._rows(h))
        return rows.view(*h.shape[:-1], -1)

    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        # Under autocast PyTorch's module mixes two precisions, and fails.
        with torch.autocast(h.device.type, enabled=False):
            found: Tensor = self.clusters(self._rows(h), targets.flatten()).output
        return -found.view(targets.shape)

    def _rows(self, h: Tensor) -> Tensor:
        return h.flatten(end_dim=-2).to(self.clusters.head.weight.dtype)
