"""What one step of a beam search did, told for each sentence: what was kept, what was pruned, and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from elman.decoding.beam_search import Advance, Offers
from elman.decoding.hypotheses import BeamEnd, BeamLayer, Hypothesis, backtrack
from elman.ranges import BeamWidth

PRUNED = 20  # hypotheses of a step that its event remembers


class PrunedHypothesis(NamedTuple):
    """A continuation that left the beam: its score is the log-probability; why it was not kept."""

    hypothesis: Hypothesis
    reason: str  # factor: too far from the best; width: no place was left


class BeamEvent(NamedTuple):
    """What one step did to the beam of one sentence."""

    position: int
    sentence: int
    width: BeamWidth  # places in the beam before the step
    kept: list[Hypothesis]  # of this length, completed ones among them; their score is the log-probability
    completed: int  # how many of these have ended
    beyond_factor: int  # continuations pruned because they were too far from the best
    beyond_width: int  # and because there was no place left, of the `width` best of each hypothesis
    closed: str | None  # why the search ended: completed, bound, limit, forbidden
    ended: list[bool]  # which of those that were kept have ended
    pruned: list[PrunedHypothesis]  # the best of those that were not kept, best first


def tell_step(layers: list[BeamLayer], advance: Advance, log_factor: float) -> Iterator[BeamEvent]:
    """An event for each sentence that the last of the layers added to."""
    layer, position = advance.layer, len(layers) - 1
    ends = [BeamEnd(score, len(layers), node) for node, score in enumerate(layer.score.tolist())]
    kept = backtrack(layers, ends)
    for b in sorted({*layer.sentence.tolist(), *advance.closed}):
        scores = advance.offered.scores[b]
        offered = int((scores > -math.inf).sum())
        near = int(((scores >= scores[0] - log_factor) & (scores > -math.inf)).sum())
        mine = [kept[node] for node in (layer.sentence == b).nonzero()[0]]
        near = max(near, len(mine))  # the best stays, whatever the factor
        width, completed = int(advance.width[b]), int(layer.ended[layer.sentence == b].sum())
        beyond = offered - near, near - len(mine)
        ended = [bool(layer.ended[node]) for node in (layer.sentence == b).nonzero()[0]]
        rest = range(len(mine), min(offered, len(mine) + PRUNED))
        lost = _restore(layers[:-1], advance.offered, b, rest)
        reasons = ["width" if rank < near else "factor" for rank in rest]
        pruned = [*map(PrunedHypothesis, lost, reasons)]
        yield BeamEvent(position, b, width, mine, completed, *beyond, advance.closed.get(b), ended, pruned)


def _restore(before: list[BeamLayer], offers: Offers, sentence: int, ranks: range) -> list[Hypothesis]:
    """The continuations of a sentence that had these ranks among all."""
    first, each = int(np.searchsorted(offers.sentence, sentence)), offers.token.shape[1]
    places = [divmod(int(offers.place[sentence, rank]), each) for rank in ranks]
    nodes = [int(offers.node[first + row]) for row, _ in places]
    parents = backtrack(before, [BeamEnd(0.0, len(before), node) for node in nodes])
    return [
        Hypothesis(
            [*parent.tokens, int(offers.token[first + row, column])],
            [*parent.log_probs, float(offers.log_prob[first + row, column])],
            float(offers.scores[sentence, rank]),
        )
        for rank, (row, column), parent in zip(ranks, places, parents, strict=True)
    ]
