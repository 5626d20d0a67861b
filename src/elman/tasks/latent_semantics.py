"""Latent semantic analysis: texts as vectors, by the words that they share (Deerwester et al. 1990)."""

from __future__ import annotations

import torch
from torch.nn.functional import normalize

from elman.layers.ngrams import Bags
from elman.shapes import Float, Tensor

_ROUNDS = 3  # of the power iteration
_MORE = 20  # directions that are followed beyond those wanted, which makes these exact


def find_topics(bags: Bags, texts_of: Bags, size: int) -> Float[Tensor, "N K"]:
    """Each text in the ``size`` directions in which texts differ most, as a vector of length 1.

    The directions are the first left singular vectors of the bags, times the singular values, by a randomized
    power iteration (Halko et al. 2011).
    """
    width = min(size + _MORE, bags.texts, texts_of.texts)
    dice = torch.Generator().manual_seed(0)
    Q = torch.randn(texts_of.texts, width, generator=dice)
    for _ in range(_ROUNDS):
        Q = torch.linalg.qr(bags.multiply(Q)).Q
        Q = torch.linalg.qr(texts_of.multiply(Q)).Q
    U, S, _ = torch.linalg.svd(bags.multiply(Q), full_matrices=False)
    return normalize((U * S)[:, :size], dim=1)
