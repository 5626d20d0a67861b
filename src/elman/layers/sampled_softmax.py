"""The loss of a softmax by a sample of its words: all frequent ones, some of the rare ones.

    Z ≈ exp z_target + Σ_{frequent v} exp z_v + (R / K) Σ_{drawn v} exp z_v        nats = log Z - z_target

R rare words are left, of which K are drawn without replacement, the same for a whole window (the importance
sampling of Jean et al. 2015, with two strata). The estimate of Z has no bias and little variance, since the
words that are always there have most of the probability; the model is a plain softmax over all words.
"""

from __future__ import annotations

from math import log

import torch
from torch.nn.functional import embedding

from elman.kernels.large_products import linear_large
from elman.kernels.logsumexp import logsumexp_beside
from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Float, Int, Tensor


def sampled_cross_entropy(
    h: Float[Tensor, "N D"],
    W: Float[Tensor, "V D"],
    b: Float[Tensor, " V"],
    targets: Int[Tensor, " N"],
    samples: int,
    weights: Tensor | None = None,
    *,
    sparse: bool = False,
) -> Float[Tensor, ""]:
    """The weighted mean of what the targets cost, by the ``samples`` first words, and as many of the others.

    Ids go from frequent to rare, as those of a `Vocab` do. Where ``sparse``, the gradient of W has the
    rows that were read.
    """
    rare = len(W) - samples
    drawn = samples + torch.randperm(rare, device=W.device)[:samples]
    columns = torch.cat([torch.arange(samples, device=W.device), drawn])
    scale = torch.zeros(len(columns), device=W.device, dtype=h.dtype)
    scale[samples:] = log(rare / len(drawn))
    # All rows are read at once: a dense gradient of W is then made once.
    read = torch.cat([columns, targets])
    rows, shifts = embedding(read, W, sparse=sparse), b[read]
    z = linear_large(h, rows[: len(columns)], shifts[: len(columns)] + scale)
    # The target has a column of its own: where it is among the others, too, it counts once.
    place = torch.full((len(W),), len(columns), device=W.device)
    place[columns] = torch.arange(len(columns), device=W.device)
    own = (h * rows[len(columns) :]).sum(1) + shifts[len(columns) :]
    return weighted_mean(logsumexp_beside(z, own, place[targets]) - own, weights)
