"""What may follow text that is pending: the rests of the tokens that write it."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from elman.tasks.writing.covers import Cover, Covers, cover
from elman.tasks.writing.pieces import Pending, finish
from elman.tasks.writing.predictor import Place, Predictor, reading, writable_log_probs
from elman.tasks.writing.spelled import readable
from elman.tasks.writing.typed import Typed, TypedWord, typed

_WIDTH = 64  # ways to spell the pending text that are followed
_MOST = 4096  # tokens after those that end just where it does


class Choice(NamedTuple):
    """A rest of text, and the tokens in the place of what is pending that make it."""

    text: str
    probability: float
    ids: list[int]


def pending_choices(lm: Predictor, place: Place, pending: Pending) -> list[Choice]:
    """All choices; a word that no known one begins with is taken as it stands."""
    before = typed(lm.codec, pending)
    covers = cover(lm, place, before, _WIDTH)
    if not covers.found:
        return [Choice("", 1.0, finish(lm.codec, pending))]
    ways = covers.best(len(covers.found))
    if not isinstance(before, TypedWord):
        exact = [way for way in ways if not before.rest(way.ids)]
        ways = [way for way in ways if before.rest(way.ids)] + _followed(lm, covers, exact)
    total = math.fsum(math.exp(way.log_prob) for way in ways)
    return [
        Choice(_text(lm, before, way), math.exp(way.log_prob) / total, list(way.ids))
        for way in ways
    ]


def _followed(lm: Predictor, covers: Covers, exact: list[Cover]) -> list[Cover]:
    """Where tokens end just where the typed text does, each with one token more."""
    if not exact:
        return []
    exact = exact[:_WIDTH]
    with reading(lm) as net:
        _, logits = net.step(*covers.place(exact))
        log_probs = writable_log_probs(lm, logits).double().cpu()
    joint = log_probs + torch.tensor([way.log_prob for way in exact])[:, None]
    values, cells = joint.flatten().topk(min(joint.numel(), _MOST))
    size = joint.shape[1]
    return [
        Cover((*exact[cell // size].ids, cell % size), value, 0)
        for value, cell in zip(values.tolist(), cells.tolist(), strict=True)
        if value > -math.inf
    ]


def _text(lm: Predictor, before: Typed, way: Cover) -> str:
    return readable(lm.codec, lm.end) if way.ids[-1] == lm.end else before.rest(way.ids)
