"""Beam search over a step."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Annotated, Unpack

import torch

from elman.decoding.beam_event import BeamEvent, tell_step
from elman.decoding.beam_search import BeamSearch
from elman.decoding.hypotheses import BeamLayer, BeamState, Hypothesis, backtrack
from elman.decoding.interfaces import Constraint, Limits, Step, Stop
from elman.decoding.recorded_beam import find_recorded_beam
from elman.errors import ModelError, check_option
from elman.ranges import BeamWidth, LengthPenalty, Range, check_ranges
from elman.shapes import Tensor
from elman.state import S


@dataclass(frozen=True, kw_only=True)
class Beam:
    """Breadth-first search that keeps the best hypotheses of each length, ranked by log-probability.

    What has no end at the limit counts as completed there. A search ends early only when no unfinished
    hypothesis can come among the n best, whatever may follow it.
    """

    width: BeamWidth = 5  # how many at most (the fixed width of the lectures); 1 is greedy
    # Only those at most so many times less probable than the best of their length (the variable width of the
    # lectures): p · factor ≥ p_best. 0 keeps the best alone: greedy; None or ∞ keep all. No other number is
    # below 1, where even the best would be too far from the best.
    factor: Annotated[float, Range(0, math.inf)] | None = None
    # Each completed hypothesis takes its place in the beam with it, so that the search ends once ``width`` are
    # completed (the lectures); otherwise the place is free again at the next step.
    narrow: bool = True
    # α: completed hypotheses are ranked by log p / length^α, the end counted; see `length_divisor`.
    length_penalty: LengthPenalty = 1.0
    n_best: BeamWidth = 1  # how many are returned; fewer where fewer were completed

    def __post_init__(self) -> None:
        check_ranges(self)
        pruned = self.factor or math.inf
        check_option("factor", self.factor, pruned >= 1, "at least 1, or 0 for the best alone")
        check_option("n_best", self.n_best, self.n_best <= self.width, f"from 1 to the width, {self.width}")

    def __call__(self, step: Step[S], state: S, **limits: Unpack[Limits]) -> list[list[Hypothesis]]:
        """The best hypotheses of each row of the batch, best first."""
        search, beams = self._prepare(step, **limits)
        if len(limits["start"]) and limits["start"].is_cuda:
            recorded = find_recorded_beam(step, beams, search.log_factor, **limits)
            if not isinstance(recorded, str):
                with torch.no_grad():
                    return self._results(recorded.run(state, limits["start"], beams), beams)
        layers = [advance.layer for advance in search.run(state, limits["start"], beams)]
        return self._results(layers, beams)

    def trace(
        self, step: Step[S], state: S, **limits: Unpack[Limits]
    ) -> Generator[BeamEvent, None, list[list[Hypothesis]]]:
        """The same search, told step by step for each sentence; what it returns is the result."""
        search, beams = self._prepare(step, **limits)
        layers: list[BeamLayer] = []
        for advance in search.run(state, limits["start"], beams):
            layers.append(advance.layer)
            yield from tell_step(layers, advance, search.log_factor)
        return self._results(layers, beams)

    def _prepare(
        self, step: Step[S], start: Tensor, stop: Stop, limit: int, constraints: Sequence[Constraint] = ()
    ) -> tuple[BeamSearch[S], BeamState]:
        check_option("limit", limit, limit >= 1, "at least 1")
        factor = math.inf if self.factor is None else self.factor
        log_factor = math.log(factor) if factor else -1.0  # nothing is above the best
        beams = BeamState(
            len(start), limit, self.width, penalty=self.length_penalty, narrow=self.narrow, n_best=self.n_best
        )
        return BeamSearch(step, stop, limit, constraints, log_factor), beams

    def _results(self, layers: list[BeamLayer], beams: BeamState) -> list[list[Hypothesis]]:
        for row, ends in enumerate(beams.ends):
            if not ends:
                raise ModelError(
                    f"row {row}: nothing can be written; "
                    "the constraints forbid every token, or the model's logits are NaN"
                )
        chosen = [ends[: self.n_best] for ends in beams.ends]
        flat = iter(backtrack(layers, [end for ends in chosen for end in ends]))
        return [[next(flat) for _ in ends] for ends in chosen]
