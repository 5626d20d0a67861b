"""What a beam search knows of each sentence: how wide its beam is, what is completed, whether to go on."""

from __future__ import annotations

from bisect import insort

import numpy as np

from elman.decoding.tree import Bools, End, Floats, Ints, Layer


class Ledger:
    """The completed hypotheses of each sentence, best first, and what they mean for its beam."""

    def __init__(
        self, sentences: int, *, most: int, alpha: float, narrow: bool, n_best: int, limit: int
    ) -> None:
        self.most = most
        self.alpha, self.narrow, self.n_best, self.limit = alpha, narrow, n_best, limit
        self.width: Ints = np.full(sentences, most)  # places in each beam
        self.open: Bools = np.ones(sentences, np.bool_)
        self.ends: list[list[End]] = [[] for _ in range(sentences)]
        self._to_beat: Floats = np.full(sentences, -np.inf)

    def enter(self, layer: Layer, length: int) -> dict[int, str]:
        """Book the hypotheses that ended in this layer; why the sentences that end with it do so."""
        for node in layer.ended.nonzero()[0].tolist():
            self._complete(int(layer.sentence[node]), length, node, float(layer.score[node]))
        live = ~layer.ended
        hope = np.full_like(self._to_beat, -np.inf)
        np.maximum.at(hope, layer.sentence[live], layer.score[live])
        closing = self.open & self._hopeless(hope)
        self.open &= ~closing
        return {b: self._reason(b, hope, length) for b in closing.nonzero()[0].tolist()}

    def _complete(self, sentence: int, length: int, node: int, score: float) -> None:
        ends = self.ends[sentence]
        insort(ends, End(score / length**self.alpha, length, node), key=_worst_last)
        if self.narrow:
            self.width[sentence] -= 1
        if len(ends) >= self.n_best:
            self._to_beat[sentence] = ends[self.n_best - 1].score

    def _hopeless(self, hope: Floats) -> Bools:
        """Where no hypothesis that goes on can come among the n best any more, or none goes on.

        More tokens never raise the log-probability, and none is divided by more than limit^α.
        """
        hopeless: Bools = hope / self.limit**self.alpha <= self._to_beat
        return hopeless

    def _reason(self, sentence: int, hope: Floats, length: int) -> str:
        if hope[sentence] > -np.inf:
            return "bound"
        if length == self.limit:
            return "limit"
        return "completed" if self.ends[sentence] else "forbidden"


def _worst_last(end: End) -> tuple[float, int, int]:
    return -end.score, end.length, end.node
