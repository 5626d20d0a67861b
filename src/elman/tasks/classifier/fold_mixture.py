"""How much the network and the n-grams of few texts count, chosen by answers to texts that were not learnt."""

from __future__ import annotations

from math import sqrt

import torch
from torch.nn.functional import cross_entropy

from elman.shapes import Float, Int, Tensor
from elman.tasks.logistic_regression import fit_mixture

_SURE = 2.0  # standard errors by which the network has to make answers likelier, else it counts nothing


def choose_mixture(
    network: Float[Tensor, "N Y"], ngrams: Float[Tensor, "N Y"], gold: Int[Tensor, " N"]
) -> Float[Tensor, " 2"]:
    """The weights of the logits of both; where n-grams alone may be as good, the network counts nothing."""
    both = fit_mixture([network, ngrams], lambda z: cross_entropy(z, gold))
    alone = fit_mixture([ngrams], lambda z: cross_entropy(z, gold))
    costs = [
        cross_entropy(z, gold, reduction="none") for z in (both[0] * network + both[1] * ngrams, alone * ngrams)
    ]
    gain = (costs[1] - costs[0]).double()
    if gain.mean() <= _SURE * gain.std() / sqrt(len(gain)):
        return torch.stack([torch.zeros(()), alone[0]])
    return both
