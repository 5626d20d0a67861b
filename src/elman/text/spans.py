"""Spans read from tags and written as tags: ``B-PER I-PER O`` is a person of two words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import DataError
from elman.text.schemes import OUTSIDE, SCHEMES, get_scheme, is_tag, parse_tag


class Span(NamedTuple):
    """The words from `start` up to, not including, `end`."""

    label: str
    start: int
    end: int


class Transitions(NamedTuple):
    """Which of Y tags may begin a sentence, stand after another (``step[before, tag]``), end it."""

    begin: npt.NDArray[np.bool_]
    step: npt.NDArray[np.bool_]
    end: npt.NDArray[np.bool_]


def tags_to_spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence as conlleval counts them, whatever the scheme, well-formed or not.

    B and S (U) begin a span, as does any other letter after `O`, after another label, or after
    E or S (L or U); a span lasts until the next one begins or an `O` stands.
    """
    found: list[Span] = []
    before = OUTSIDE
    for place, tag in enumerate(map(parse_tag, tags)):
        if tag.label is not None:
            if tag.letter in "BSU" or before.letter in "OESLU" or before.label != tag.label:
                found.append(Span(tag.label, place, place + 1))
            else:
                found[-1] = found[-1]._replace(end=place + 1)
        before = tag
    return found


def spans_to_tags(spans: Iterable[Span], length: int, scheme: str) -> list[str]:
    """The tags of a sentence of `length` words that holds these spans, in any order."""
    spell = get_scheme(scheme).spell
    tags = ["O"] * length
    last: Span | None = None
    for span in sorted(spans, key=lambda span: span.start):
        if not (last.end if last else 0) <= span.start < span.end <= length:
            raise DataError(f"{span} is empty, overlaps another or leaves the {length} words")
        close = last is not None and (last.label, last.end) == (span.label, span.start)
        for place, letter in enumerate(spell(span.end - span.start, close), span.start):
            tags[place] = f"{letter}-{span.label}" if span.label else letter
        last = span
    return tags


def convert_tags(tags: Sequence[str], to: str) -> list[str]:
    """The same spans in another scheme; in its own, tags that are well-formed do not change."""
    return spans_to_tags(tags_to_spans(tags), len(tags), to)


def detect_scheme(sentences: Iterable[Sequence[str]]) -> str | None:
    """The scheme that writes the spans of these tags most as they stand; None if they are no spans.

    They are none if any tag has not the form, as with parts of speech, or if every scheme would
    write more than one tag anew for two spans. Letters without labels are spans only where B, I
    and O all occur. I and O alone, with labels, are IOB1.
    """
    sentences = [list(tags) for tags in sentences]
    if not _look_like_spans({tag for tags in sentences for tag in tags}):
        return None
    found = [tags_to_spans(tags) for tags in sentences]
    anew = dict.fromkeys(SCHEMES, 0)
    for tags, inside in zip(sentences, found, strict=True):
        for name in SCHEMES:
            written = spans_to_tags(inside, len(tags), name)
            anew[name] += sum(a != b for a, b in zip(tags, written, strict=True))
    best = min(anew, key=anew.__getitem__)
    return best if 2 * anew[best] <= sum(map(len, found)) else None


def transition_masks(tags: Sequence[str], scheme: str) -> Transitions:
    """What a scheme allows: of all sequences of these tags, the well-formed pass and no others."""
    letters, _, follows = get_scheme(scheme)
    parts = [parse_tag(tag) for tag in tags]
    for tag, part in zip(tags, parts, strict=True):
        if part.letter not in "O" + letters:
            raise DataError(f"the tag {tag!r} is none of the scheme {scheme}")
    step = [[follows(before, tag) for tag in parts] for before in parts]
    return Transitions(
        begin=np.array([follows(OUTSIDE, tag) for tag in parts], dtype=np.bool_),
        step=np.array(step, dtype=np.bool_).reshape(len(tags), len(tags)),
        end=np.array([follows(tag, OUTSIDE) for tag in parts], dtype=np.bool_),
    )


def _look_like_spans(tags: set[str]) -> bool:
    if not all(map(is_tag, tags)):
        return False
    bare = {tag for tag in tags if "-" not in tag}
    return bare <= {"O"} if bare < tags else {"B", "I", "O"} <= bare
