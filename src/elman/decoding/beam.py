"""Beam search over a step."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elman.decoding.kinds import Constraint, Step, Stop
from elman.decoding.ledger import Ledger
from elman.decoding.search import Advance, Search
from elman.decoding.tree import End, Hypothesis, Layer, read
from elman.errors import ConfigError, ModelError
from elman.shapes import Int, Tensor
from elman.state import S


@dataclass(frozen=True, kw_only=True)
class Beam:
    """Breadth-first search that keeps the best hypotheses of each length, ranked by log-probability.

    width    how many at most (the fixed width of the lectures). 1 is greedy.
    factor   only those at most so many times less probable than the best of their length (the variable
             width of the lectures): p · factor ≥ p_best. 0 keeps the best alone: greedy; None or ∞ keep all.
    narrow   each completed hypothesis takes its place in the beam with it, so that the search ends once
             ``width`` are completed (the lectures); otherwise the place is free again at the next step.
    alpha    completed hypotheses are ranked by log p / length^α, the end counted; 0 is plain log p.
    n_best   how many are returned; fewer where fewer were completed.

    What has no end at the limit counts as completed there. A search ends early only when no unfinished
    hypothesis can come among the n best, whatever may follow it.
    """

    width: int = 5
    factor: float | None = None
    narrow: bool = True
    alpha: float = 1.0
    n_best: int = 1

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ConfigError(f"width is {self.width}; it must be at least 1")
        if self.factor is not None and not self.factor >= 0:
            raise ConfigError(f"factor is {self.factor}; it must be at least 0")
        if not 0 <= self.alpha < math.inf:
            raise ConfigError(f"alpha is {self.alpha}; it must be at least 0")
        if not 1 <= self.n_best <= self.width:
            raise ConfigError(
                f"n_best is {self.n_best}; it must be from 1 to the width, {self.width}"
            )

    def __call__(
        self,
        step: Step[S],
        state: S,
        *,
        start: Int[Tensor, " B"],
        stop: Stop,
        limit: int,
        constraints: Sequence[Constraint] = (),
    ) -> list[list[Hypothesis]]:
        """The best hypotheses of each row of the batch, best first."""
        search, ledger = self._prepare(step, stop, limit, constraints, len(start))
        layers = [advance.layer for advance in search.run(state, start, ledger)]
        return self._results(layers, ledger)

    def trace(
        self,
        step: Step[S],
        state: S,
        *,
        start: Int[Tensor, " B"],
        stop: Stop,
        limit: int,
        constraints: Sequence[Constraint] = (),
    ) -> Generator[Event, None, list[list[Hypothesis]]]:
        """The same search, told step by step for each sentence; what it returns is the result."""
        search, ledger = self._prepare(step, stop, limit, constraints, len(start))
        layers: list[Layer] = []
        for advance in search.run(state, start, ledger):
            layers.append(advance.layer)
            yield from _events(layers, advance, search.log_factor)
        return self._results(layers, ledger)

    def _prepare(
        self, step: Step[S], stop: Stop, limit: int, constraints: Sequence[Constraint], rows: int
    ) -> tuple[Search[S], Ledger]:
        if limit < 1:
            raise ConfigError(f"limit is {limit}; it must be at least 1")
        ledger = Ledger(
            rows,
            most=self.width,
            alpha=self.alpha,
            narrow=self.narrow,
            n_best=self.n_best,
            limit=limit,
        )
        return Search(step, stop, limit, constraints, self._log_factor()), ledger

    def _log_factor(self) -> float:
        if self.factor is None:
            return math.inf
        return math.log(self.factor) if self.factor >= 1 else -1.0  # nothing is above the best

    def _results(self, layers: list[Layer], ledger: Ledger) -> list[list[Hypothesis]]:
        for row, ends in enumerate(ledger.ends):
            if not ends:
                raise ModelError(
                    f"row {row}: nothing can be written; "
                    "the constraints forbid every token, or the model's logits are NaN"
                )
        chosen = [ends[: self.n_best] for ends in ledger.ends]
        flat = iter(read(layers, [end for ends in chosen for end in ends]))
        return [[next(flat) for _ in ends] for ends in chosen]


class Event(NamedTuple):
    """What one step did to the beam of one sentence."""

    position: int
    sentence: int
    width: int  # places in the beam before the step
    kept: list[
        Hypothesis
    ]  # of this length, completed ones among them; their score is the log-probability
    completed: int  # how many of these have ended
    beyond_factor: int  # continuations pruned because they were too far from the best
    beyond_width: int  # and because there was no place left, of the `width` best of each hypothesis
    closed: str | None  # why the search ended: completed, bound, limit, forbidden


def _events(
    layers: list[Layer], advance: Advance, log_factor: float
) -> Generator[Event, None, None]:
    layer, position = advance.layer, len(layers) - 1
    ends = [End(score, len(layers), node) for node, score in enumerate(layer.score.tolist())]
    kept = read(layers, ends)
    for b in sorted({*layer.sentence.tolist(), *advance.closed}):
        scores = advance.offered[b]
        offered = int((scores > -math.inf).sum())
        near = int(((scores >= scores[0] - log_factor) & (scores > -math.inf)).sum())
        mine = (layer.sentence == b).nonzero()[0].tolist()
        near = max(near, len(mine))  # the best stays, whatever the factor
        yield Event(
            position,
            b,
            int(advance.width[b]),
            [kept[node] for node in mine],
            int(layer.ended[layer.sentence == b].sum()),
            offered - near,
            near - len(mine),
            advance.closed.get(b),
        )
