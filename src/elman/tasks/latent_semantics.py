"""Latent semantic analysis: texts as vectors, by the words that they share (Deerwester et al. 1990)."""

from __future__ import annotations

from typing import NamedTuple

import torch

from elman.layers.ngrams import Bags
from elman.shapes import Float, Tensor

_ROUNDS = 3  # of the power iteration
_MORE = 20  # directions that are followed beyond those wanted, which makes these exact


class Topics(NamedTuple):
    """The directions in which texts differ most, A ≈ U S Vᵀ for bags A."""

    vectors: Float[Tensor, "N K"]  # U S = A V: where each text lies
    sources: Float[Tensor, "N K"]  # U / S, of which V = Aᵀ U / S comes: n-grams as sums of texts


def find_topics(bags: Bags, texts_of: Bags, size: int) -> Topics:
    """The ``size`` largest singular values, by a randomized power iteration (Halko et al. 2011).

    ``texts_of`` is the transpose of the bags.
    """
    width = min(size + _MORE, bags.texts, texts_of.texts)
    dice = torch.Generator().manual_seed(0)
    Q = torch.randn(texts_of.texts, width, generator=dice)
    for _ in range(_ROUNDS):
        Q = torch.linalg.qr(bags.multiply(Q)).Q
        Q = torch.linalg.qr(texts_of.multiply(Q)).Q
    U, S, _ = torch.linalg.svd(bags.multiply(Q), full_matrices=False)
    U, S = U[:, :size], S[:size]
    return Topics(U * S, U / S.clamp(min=1e-6))
