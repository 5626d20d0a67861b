"""Words and tags of a text in which annotators marked spans of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from elman.errors import DataError, quote
from elman.text.pre_tokenizer import split_words
from elman.text.sentences import locate_words
from elman.text.spans import Span, spans_to_tags


class MarkedSpan(NamedTuple):
    """The characters of a text from `start` up to, not including, `end`."""

    start: int
    end: int
    label: str


def tag_text(text: str, spans: Sequence[MarkedSpan]) -> tuple[list[str], list[str]]:
    """The words of a text and their tags in BIO; a span must not cut a word, nor overlap another."""
    places = locate_words(split_words(text), text)
    found = []
    for start, end, label in spans:
        inside = [i for i, (a, b) in enumerate(places) if a < end and b > start]
        marked = text[start:end]
        trimmed = (start + len(marked) - len(marked.lstrip()), end - len(marked) + len(marked.rstrip()))
        if not inside or (places[inside[0]][0], places[inside[-1]][1]) != trimmed:
            raise DataError(f"the span {quote(marked)} at {start} does not begin and end with words")
        found.append(Span(label, inside[0], inside[-1] + 1))
    return [text[a:b] for a, b in places], spans_to_tags(found, len(places), "BIO")


def read_text_span(value: Any) -> MarkedSpan:
    """A span as annotation tools write it: ``[0, 5, "PER"]``, or an object with start, end and label."""
    if isinstance(value, Mapping):
        start, end = (_first(value, name, f"{name}_offset") for name in ("start", "end"))
        labels = _first(value, "labels", "label", "entity_type")
        label = labels[0] if isinstance(labels, list) and len(labels) == 1 else labels
    elif isinstance(value, Sequence) and len(value) == 3:
        start, end, label = value
    else:
        start = end = label = None
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(label, str):
        raise DataError(f"expected a span such as [0, 5, 'PER'], not {quote(repr(value))}")
    return MarkedSpan(start, end, label)


def _first(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if name in value), None)
