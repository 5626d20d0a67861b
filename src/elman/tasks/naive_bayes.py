"""Naive Bayes that learns from texts with labels and without: expectation maximisation (Nigam et al. 2000)."""

from __future__ import annotations

import torch

from elman.layers.ngrams import Bags
from elman.shapes import Bool, Float, Tensor

_ROUNDS = 8  # of guessing labels and counting by them
_WEIGHT = 0.5  # what a text without a label counts, beside one that has it


def fit_naive_bayes(
    bags: Bags,
    texts_of: Bags,
    labels: Float[Tensor, "N Y"],
    known: Bool[Tensor, " N"],
    length: float,
    smoothing: float = 0.5,
) -> tuple[Float[Tensor, "F Y"], Float[Tensor, " Y"]]:
    """W and b of naive Bayes, a linear model, for texts of which only those that are ``known`` have labels.

    log p(y | x) = log p(y) + Σ_w v_w log p(w | y) + const, where v are the bags, made longer by ``length``.
    ``texts_of`` is the transpose of the bags; ``smoothing`` is added to every count.
    """
    shares = labels * known[:, None]
    for _ in range(_ROUNDS):
        counts = length * texts_of.multiply(shares) + smoothing
        W = length * (counts / counts.sum(0)).log()
        often = shares.sum(0) + 1
        b = (often / often.sum()).log()
        guess = (bags.multiply(W) + b).softmax(-1)
        shares = torch.where(known[:, None], labels, _WEIGHT * guess)
    return W, b
