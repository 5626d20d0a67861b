"""The tokens that may stand in the place of what was typed, how probable each way is, and what it adds."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import torch

from elman.generation.cursor import Cursor, next_log_probs
from elman.generation.incremental import Pending, flush
from elman.generation.partial_prefix import PartialPrefix, PartialWord, partial_prefix
from elman.generation.predictor import LMPredictor
from elman.generation.token_bytes import display_token
from elman.shapes import Tensor
from elman.state import map_state, pick

_WIDTH = 64  # ways to spell the pending text that are followed
_MOST = 4096  # tokens after those that end just where it does


class PrefixMatch(NamedTuple):
    """Tokens that write what was typed, and no token more."""

    ids: tuple[int, ...]
    log_prob: float
    row: int  # of the states after `len(ids)` steps


@dataclass(frozen=True)
class PrefixMatches:
    """All ways that were found; the states after each step, in which the last token is not yet read."""

    found: list[PrefixMatch]
    states: list[Any]
    start: Cursor

    def best(self, count: int) -> list[PrefixMatch]:
        """The likeliest first."""
        return heapq.nlargest(count, self.found, key=attrgetter("log_prob"))

    def cursor(self, matches: Sequence[PrefixMatch]) -> Cursor:
        """Where these lead to, a row each."""
        device = self.start.token.device
        if not matches[0].ids:  # nothing was typed: there is one, and it has no tokens
            return self.start
        rows = [pick(self.states[len(one.ids) - 1], torch.tensor([one.row], device=device)) for one in matches]
        token = torch.tensor([one.ids[-1] for one in matches], device=device)
        return Cursor(map_state(lambda *tensors: torch.cat(tensors), *rows), token)


def match_prefix(lm: LMPredictor, start: Cursor, prefix: PartialPrefix, width: int) -> PrefixMatches:
    """Step by step the ``width`` likeliest unfinished ways; all of them where they are fewer."""
    if prefix.next_ids(()) is None:
        return PrefixMatches([PrefixMatch((), 0.0, 0)], [], start)
    found: list[PrefixMatch] = []
    states: list[Any] = []
    live, cursor = [PrefixMatch((), 0.0, 0)], start
    while live:
        state, log_probs = next_log_probs(lm, cursor)
        states.append(state)
        unfinished: list[PrefixMatch] = []
        for way in _extend_matches(live, prefix, log_probs):
            (found if prefix.next_ids(way.ids) is None else unfinished).append(way)
        live = heapq.nlargest(width, unfinished, key=attrgetter("log_prob"))
        if live:
            rows = torch.tensor([way.row for way in live], device=start.token.device)
            token = torch.tensor([way.ids[-1] for way in live], device=start.token.device)
            cursor = Cursor(pick(state, rows), token)
    return PrefixMatches(found, states, start)


def _extend_matches(live: Sequence[PrefixMatch], prefix: PartialPrefix, log_probs: Tensor) -> list[PrefixMatch]:
    grown = []
    for row, way in enumerate(live):
        allowed = list(prefix.next_ids(way.ids) or ())
        values = log_probs[row, allowed].tolist()
        grown += [
            PrefixMatch((*way.ids, i), way.log_prob + value, row)
            for i, value in zip(allowed, values, strict=True)
            if value > float("-inf")
        ]
    return grown


class Continuation(NamedTuple):
    """A rest of text, and the tokens in the place of what is pending that make it."""

    text: str
    probability: float
    ids: list[int]


def next_tokens(lm: LMPredictor, cursor: Cursor, pending: Pending) -> list[Continuation]:
    """All of them with their probabilities; a word that no known one begins with is taken as it stands."""
    before = partial_prefix(lm.tokenizer, pending)
    matches = match_prefix(lm, cursor, before, _WIDTH)
    if not matches.found:
        return [Continuation("", 1.0, flush(lm.tokenizer, pending))]
    ways = matches.best(len(matches.found))
    if not isinstance(before, PartialWord):
        exact = [way for way in ways if not before.rest(way.ids)]
        ways = [way for way in ways if before.rest(way.ids)] + _extend_exact(lm, matches, exact[:_WIDTH])
    masses, end = [math.exp(way.log_prob) for way in ways], display_token(lm.tokenizer, lm.end)
    texts = (end if way.ids[-1] == lm.end else before.rest(way.ids) for way in ways)
    total, rows = math.fsum(masses), zip(texts, masses, ways, strict=True)
    return [Continuation(text, mass / total, list(way.ids)) for text, mass, way in rows]


def _extend_exact(lm: LMPredictor, matches: PrefixMatches, exact: list[PrefixMatch]) -> list[PrefixMatch]:
    """Where tokens end just where the typed text does, each with one token more."""
    if not exact:
        return []
    _, log_probs = next_log_probs(lm, matches.cursor(exact))
    joint = log_probs.double().cpu() + torch.tensor([way.log_prob for way in exact])[:, None]
    values, cells = joint.flatten().topk(min(joint.numel(), _MOST))
    size = joint.shape[1]
    return [
        PrefixMatch((*exact[cell // size].ids, cell % size), value, 0)
        for value, cell in zip(values.tolist(), cells.tolist(), strict=True)
        if value > -math.inf
    ]
