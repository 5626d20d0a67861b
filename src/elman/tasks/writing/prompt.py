"""A text as a model has read it."""

from __future__ import annotations

from typing import NamedTuple

from elman.tasks.writing.pieces import Pending, finish, settle
from elman.tasks.writing.predictor import Place, Predictor, beginning, lines_of, onward
from elman.tasks.writing.typed import Typed, typed


class Prompt(NamedTuple):
    """To where a text was read, and what is typed beyond that."""

    text: str
    place: Place
    pending: Pending
    typed: Typed


def prompt(lm: Predictor, text: str) -> Prompt:
    """Read a text, but for its end where that may be part of a longer token."""
    ids, pending = settled(lm, text)
    place = onward(lm, beginning(lm), ids)
    return Prompt(text, place, pending, typed(lm.codec, pending))


def settled(lm: Predictor, text: str) -> tuple[list[int], Pending]:
    """The ids of a text that are certain, and its end that may be part of a longer token."""
    *lines, last = text.split("\n")
    before = lines_of(lm, "\n".join(lines)) if lines else []
    ids, pending = settle(lm.codec, Pending(), last)
    return [*before, *ids], pending


def finished(lm: Predictor, read: Prompt) -> Prompt:
    """The same text, read to its end as it stands."""
    place = onward(lm, read.place, finish(lm.codec, read.pending))
    return Prompt(read.text, place, Pending(), typed(lm.codec, Pending()))
