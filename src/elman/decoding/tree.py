"""The hypotheses of a beam search as a tree: each layer points back into the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Hypothesis(NamedTuple):
    """One sequence, its end included."""

    tokens: list[int]
    log_probs: list[float]  # of the model, one a token
    score: float  # what hypotheses are ranked by: the sum of log_probs / length^α


class Layer(NamedTuple):
    """All hypotheses of one length that were kept, by sentence and then by score; M in all."""

    sentence: Ints
    parent: Ints  # number in the layer before
    token: Ints
    log_prob: Floats  # of the token
    score: Floats  # the log-probability of the whole
    ended: Bools


class End(NamedTuple):
    """The last token of a hypothesis: which of which layer; the score of the whole."""

    score: float
    length: int
    node: int


def read(layers: Sequence[Layer], ends: Sequence[End]) -> list[Hypothesis]:
    """The hypotheses with these ends, read back along their parents."""
    columns = [(x.parent.tolist(), x.token.tolist(), x.log_prob.tolist()) for x in layers]
    found = []
    for score, length, node in ends:
        tokens, log_probs = [], []
        for parents, token, log_prob in reversed(columns[:length]):
            tokens.append(token[node])
            log_probs.append(log_prob[node])
            node = parents[node]
        found.append(Hypothesis(tokens[::-1], log_probs[::-1], score))
    return found
