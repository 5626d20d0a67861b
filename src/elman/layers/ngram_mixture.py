"""Counted n-grams beside a network: two distributions of the next token, mixed.

    p(w) = λ p_network(w) + (1 - λ) p_ngrams(w)

One λ for all places: one for each length of the context that the n-grams know made texts no likelier (by 0.1 %
of the perplexity on WikiText-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import nn

from elman.layers.kneser_ney import KneserNey
from elman.layers.softmax import Output
from elman.shapes import Bool, Float, Int, Tensor

_HALF = 2**20  # a number of an n-gram is two numbers that float32 holds exactly: n // _HALF, n % _HALF
_ROUNDS = 50  # of expectation maximisation, which is done long before
_PRIOR = 20.0  # tokens that speak for a half, lest a few settle λ


class MixtureCosts(NamedTuple):
    """What tokens cost the network, and what they cost the n-grams, in nats."""

    network: Float[Tensor, "*N"]
    ngrams: Float[Tensor, "*N"]


class NGramMixture(nn.Module):
    """The n-grams and λ. None of it is trained by gradients."""

    share: Tensor

    def __init__(self, ngrams: KneserNey) -> None:
        super().__init__()
        self.ngrams = ngrams
        self.register_buffer("share", torch.tensor(0.5))  # λ

    @classmethod
    def like(cls, weights: Mapping[str, Tensor], vocabulary: int) -> NGramMixture:
        """One as large as these weights, which have its names."""
        sizes: list[int] = []
        while (name := f"ngrams.keys_{len(sizes) + 1}") in weights:
            sizes.append(len(weights[name]))
        return cls(KneserNey(vocabulary, sizes))

    def widen(self, vocabulary: int) -> NGramMixture:
        """The same for further tokens, which no n-gram has."""
        wide = NGramMixture(self.ngrams.widen(vocabulary))
        wide.share.copy_(self.share)
        return wide

    def read(
        self, context: Int[Tensor, "B C"], ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None
    ) -> tuple[Int[Tensor, "B C"], Float[Tensor, "B T 2*C"]]:
        """The context after some tokens, and those after each, packed; padding stands behind a row's tokens."""
        contexts = self.ngrams.follow(context, ids)
        packed = torch.cat([contexts.div(_HALF, rounding_mode="floor"), contexts.remainder(_HALF)], -1)
        if mask is None:
            return contexts[:, -1], packed.float()
        every = torch.cat([context[:, None], contexts], 1)
        return every[torch.arange(len(ids), device=ids.device), mask.sum(1)], packed.float()

    def split(self, h: Float[Tensor, "*N D"]) -> tuple[Float[Tensor, "*N H"], Int[Tensor, "*N C"]]:
        """What the network says, and the contexts that `read` packed behind it."""
        size = self.ngrams.order - 1
        width = h.shape[-1] - 2 * size
        high, low = h[..., width : width + size].long(), h[..., width + size :].long()
        return h[..., :width].to(self.share), high * _HALF + low

    def costs(self, softmax: Output, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> MixtureCosts:
        """What each target costs either."""
        network, contexts = self.split(h)
        return MixtureCosts(softmax.nll(network, targets), self.ngrams.nll(contexts, targets))

    def mix(self, costs: MixtureCosts) -> Float[Tensor, "*N"]:
        """What the tokens cost the mixture."""
        return -torch.logaddexp(self.share.log() - costs.network, (1 - self.share).log() - costs.ngrams)

    def log_probabilities(self, softmax: Output, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """log p of every token."""
        network, contexts = self.split(h)
        plain, counted = softmax.log_probabilities(network), self.ngrams.probabilities(contexts).log()
        return torch.logaddexp(self.share.log() + plain, (1 - self.share).log() + counted)

    def fit_share(self, costs: MixtureCosts) -> None:
        """The λ that makes these tokens likeliest: the mean of λ p_network / p, again and again."""
        p, q = (-costs.network).double().exp(), (-costs.ngrams).double().exp()
        share = 0.5
        for _ in range(_ROUNDS):
            own = share * p / (share * p + (1 - share) * q).clamp(min=1e-300)
            share = (float(own.sum()) + _PRIOR / 2) / (len(p) + _PRIOR)
        self.share.fill_(share)


class MixedOutput:
    """From what a network with n-grams has read to the next token."""

    def __init__(self, softmax: Output, mixture: NGramMixture) -> None:
        self.softmax, self.mixture = softmax, mixture

    def features(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N H"]:
        """The network's part of what was read."""
        return self.mixture.split(h)[0]

    def logits(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """Scores whose softmax is the distribution."""
        return self.log_probabilities(h)

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """log p of every token."""
        return self.mixture.log_probabilities(self.softmax, h)

    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        """-log p of each target."""
        return self.mixture.mix(self.mixture.costs(self.softmax, h, targets))


def join_costs(costs: Iterator[MixtureCosts]) -> MixtureCosts:
    """Those of all windows of a text, one after the other."""
    return MixtureCosts(*map(torch.cat, zip(*costs, strict=True)))
