"""Naive Bayes that learns from texts with labels and without: expectation maximisation (Nigam et al. 2000)."""

from __future__ import annotations

import torch

from elman.layers.ngrams import Bags
from elman.shapes import Bool, Float, Tensor

_ROUNDS = 8  # of guessing labels and counting by them
_SMOOTHING = 0.5  # added to every count
_WEIGHT = 0.2  # what a text without a label counts, beside one that has it


def fit_naive_bayes(
    bags: Bags, texts_of: Bags, labels: Float[Tensor, "N Y"], known: Bool[Tensor, " N"], length: float
) -> Float[Tensor, "N Y"]:
    """What naive Bayes says of all texts, of which only those that are ``known`` have labels.

    log p(y | x) = log p(y) + Σ_w v_w log p(w | y) + const. v are the bags, made longer by ``length``;
    ``texts_of`` is their transpose.
    """
    shares = labels * known[:, None]
    for _ in range(_ROUNDS):
        counts = length * texts_of.multiply(shares) + _SMOOTHING
        W = (counts / counts.sum(0)).log()
        often = shares.sum(0) + 1
        z = bags.multiply(length * W) + (often / often.sum()).log()
        shares = torch.where(known[:, None], labels, _WEIGHT * z.softmax(-1))
    return z
