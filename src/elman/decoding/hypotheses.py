"""The hypotheses of a beam search: a tree whose layers point back, and what is completed of each sentence."""

from __future__ import annotations

from bisect import insort
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


class BeamLayer(NamedTuple):
    """All hypotheses of one length that were kept, by sentence and then by score; M in all."""

    sentence: Ints
    parent: Ints  # number in the layer before
    token: Ints
    log_prob: Floats  # of the token
    score: Floats  # the log-probability of the whole
    ended: Bools


class BeamEnd(NamedTuple):
    """The last token of a hypothesis: which of which layer; the score of the whole."""

    score: float
    length: int
    node: int


def backtrack(layers: Sequence[BeamLayer], ends: Sequence[BeamEnd]) -> list[Hypothesis]:
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


class BeamState:
    """The completed hypotheses of each sentence, best first, and what they mean for its beam."""

    def __init__(
        self, sentences: int, limit: int, most: int, *, penalty: float, narrow: bool, n_best: int
    ) -> None:
        self.limit, self.most, self.penalty, self.narrow, self.n_best = limit, most, penalty, narrow, n_best
        self.width: Ints = np.full(sentences, most)  # places in each beam
        self.open: Bools = np.ones(sentences, np.bool_)
        self.ends: list[list[BeamEnd]] = [[] for _ in range(sentences)]
        self._to_beat: Floats = np.full(sentences, -np.inf)

    def enter(self, layer: BeamLayer, length: int) -> dict[int, str]:
        """Book the hypotheses that ended in this layer; why the sentences that end with it do so."""
        for node in layer.ended.nonzero()[0].tolist():
            self._complete(int(layer.sentence[node]), length, node, float(layer.score[node]))
        live = ~layer.ended
        hope = np.full_like(self._to_beat, -np.inf)
        np.maximum.at(hope, layer.sentence[live], layer.score[live])
        # Nothing that goes on can come among the n best any more: more tokens never raise the log-probability,
        # and none is divided by more than limit^α.
        closing = self.open & (hope / length_divisor(self.limit, self.penalty) <= self._to_beat)
        self.open &= ~closing
        return {b: self._reason(b, hope, length) for b in closing.nonzero()[0].tolist()}

    def _complete(self, sentence: int, length: int, node: int, score: float) -> None:
        ends = self.ends[sentence]
        rank = score / length_divisor(length, self.penalty)
        insort(ends, BeamEnd(rank, length, node), key=lambda end: (-end.score, end.length, end.node))
        if self.narrow:
            self.width[sentence] -= 1
        if len(ends) >= self.n_best:
            self._to_beat[sentence] = ends[self.n_best - 1].score

    def _reason(self, sentence: int, hope: Floats, length: int) -> str:
        if hope[sentence] > -np.inf:
            return "bound"
        if length == self.limit:
            return "limit"
        return "completed" if self.ends[sentence] else "forbidden"


def length_divisor(length: int, length_penalty: float) -> float:
    """length^α: hypotheses are ranked by log p / length^α.

    With α = 0 that is log p, which favours short texts; with α = 1 it is the mean log p of a token.
    """
    return float(length**length_penalty)
