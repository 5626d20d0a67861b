"""The schemes by which tags mark spans, and what each lets stand beside what.

A tag is `O` or a letter, a hyphen and a label, which may hold hyphens itself (``B-creative-work``).
Where there is one kind of span only, the letter may stand alone (``B I O``); its label is "".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from elman.errors import ConfigError, DataError, quote

_TAG = re.compile("O|([BIESLU])(?:-(.+))?", re.DOTALL)


class Tag(NamedTuple):
    """A tag in its two parts; `O` has no label."""

    letter: str
    label: str | None


class Scheme(NamedTuple):
    """The letters of a scheme beside `O`, and its two rules.

    ``spell(length, close)`` gives the letters of a span; `close` says that another of the same
    label ends right before it. ``follows(before, tag)`` is whether a tag may stand after another;
    the edges of a sentence are like `O`.
    """

    letters: str
    spell: Callable[[int, bool], str]
    follows: Callable[[Tag, Tag], bool]


OUTSIDE = Tag("O", None)


@lru_cache(maxsize=4096)  # a corpus has few tags and many words
def parse_tag(tag: str) -> Tag:
    """The letter and the label of a tag."""
    match = _TAG.fullmatch(tag)
    if match is None:
        raise DataError(f"the tag {quote(tag)} marks no span; expected O or a tag like B-PER")
    return OUTSIDE if tag == "O" else Tag(match[1], match[2] or "")


def is_tag(tag: str) -> bool:
    """Whether a tag has the form of one that marks spans."""
    return _TAG.fullmatch(tag) is not None


def get_scheme(name: str) -> Scheme:
    """The scheme of this name."""
    if name not in SCHEMES:
        raise ConfigError(f"unknown scheme {name!r}; choose from {', '.join(SCHEMES)}")
    return SCHEMES[name]


def _spell_marked_end(length: int, end: str, single: str) -> str:
    return single if length == 1 else "B" + "I" * (length - 2) + end


def _follows_marked_end(before: Tag, tag: Tag) -> bool:
    if before.letter in "BI":
        return tag.letter in "IEL" and before.label == tag.label
    return tag.letter in "OBSU"


# BIO is also called IOB2, BIOES also IOBES, BILOU also BILUO.
SCHEMES = {
    "BIO": Scheme(
        "BI",
        lambda length, close: "B" + "I" * (length - 1),
        lambda before, tag: tag.letter != "I" or before.label == tag.label,
    ),
    "IOB1": Scheme(
        "BI",
        lambda length, close: ("B" if close else "I") + "I" * (length - 1),
        lambda before, tag: tag.letter != "B" or before.label == tag.label,
    ),
    "BIOES": Scheme("BIES", lambda length, close: _spell_marked_end(length, "E", "S"), _follows_marked_end),
    "BILOU": Scheme("BILU", lambda length, close: _spell_marked_end(length, "L", "U"), _follows_marked_end),
}
