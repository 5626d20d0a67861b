"""The tokens that may stand in the place of what was typed, and how probable each way is."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import torch

from elman.shapes import Tensor
from elman.state import map_state, pick
from elman.tasks.writing.predictor import Place, Predictor, reading, writable_log_probs
from elman.tasks.writing.typed import Typed


class Cover(NamedTuple):
    """Tokens that write what was typed, and no token more."""

    ids: tuple[int, ...]
    log_prob: float
    row: int  # of the states after `len(ids)` steps


@dataclass(frozen=True)
class Covers:
    """All ways that were found; the states after each step, in which the last token is not yet read."""

    found: list[Cover]
    states: list[Any]
    start: Place

    def best(self, count: int) -> list[Cover]:
        """The likeliest first."""
        return heapq.nlargest(count, self.found, key=attrgetter("log_prob"))

    def place(self, covers: Sequence[Cover]) -> Place:
        """Where these lead to, a row each."""
        device = self.start.token.device
        if not covers[0].ids:  # nothing was typed: there is one, and it has no tokens
            return self.start
        rows = [
            pick(self.states[len(cover.ids) - 1], torch.tensor([cover.row], device=device))
            for cover in covers
        ]
        token = torch.tensor([cover.ids[-1] for cover in covers], device=device)
        return Place(map_state(lambda *tensors: torch.cat(tensors), *rows), token)


def cover(lm: Predictor, start: Place, typed: Typed, width: int) -> Covers:
    """Step by step the ``width`` likeliest unfinished ways; all of them where they are fewer."""
    if typed.allowed(()) is None:
        return Covers([Cover((), 0.0, 0)], [], start)
    found: list[Cover] = []
    states: list[Any] = []
    live, place = [Cover((), 0.0, 0)], start
    while live:
        with reading(lm) as net:
            state, logits = net.step(*place)
            grown = _grown(live, typed, writable_log_probs(lm, logits))
        states.append(state)
        over = [way for way in grown if typed.allowed(way.ids) is None]
        found += over
        ended = set(over)
        on = (way for way in grown if way not in ended)
        live = heapq.nlargest(width, on, key=attrgetter("log_prob"))
        if live:
            rows = torch.tensor([way.row for way in live], device=start.token.device)
            token = torch.tensor([way.ids[-1] for way in live], device=start.token.device)
            place = Place(pick(state, rows), token)
    return Covers(found, states, start)


def _grown(live: Sequence[Cover], typed: Typed, log_probs: Tensor) -> list[Cover]:
    grown = []
    for row, way in enumerate(live):
        allowed = list(typed.allowed(way.ids) or ())
        values = log_probs[row, allowed].tolist()
        grown += [
            Cover((*way.ids, i), way.log_prob + value, row)
            for i, value in zip(allowed, values, strict=True)
            if value > float("-inf")
        ]
    return grown
