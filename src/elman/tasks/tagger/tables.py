"""Sentences from tables: columns of words and tags, or of texts in which spans are marked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from elman.errors import ConfigError, DataError, quote
from elman.text.tables import CellError, TableRows, is_nothing, publish_report, shorten
from elman.text.text_spans import read_text_span, tag_text


def read_tagged_rows(
    source: str, wanted: Mapping[str, str], **options: Any
) -> Iterator[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """The number, words and tags of each row."""
    rows = TableRows(source, wanted, as_is=("words", "tags"), **options)
    if len(set(rows.places)) == 1:
        raise ConfigError("one column is to be words and tags: name another one with --column")
    for number, (words, tags) in rows.check(_pair):
        yield number, words, tags
    publish_report(rows.report)


def _sequence(value: Any, role: str) -> Any:
    """A list, or a text; lists of numpy and JSON that a CSV holds are lists, too."""
    if isinstance(value, str) and value.startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if is_nothing(value):
        raise CellError(f"there are no {role}", f"without {role}")
    if not isinstance(value, str | list | tuple):
        raise CellError(f"{role} must be a list or a text, not {shorten(value)}")
    return value


def _pair(words: Any, tags: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and as many tags, or those of a text and its spans."""
    words, tags = _sequence(words, "words"), _sequence(tags, "tags")
    if isinstance(words, str):
        if isinstance(tags, str) or not all(isinstance(tag, list | tuple | Mapping) for tag in tags):
            raise CellError(f"expected words and as many tags, got {shorten(words)}, {shorten(tags)}")
        try:
            found = tag_text(words, [read_text_span(tag) for tag in tags])
        except DataError as error:
            raise CellError(str(error)) from None
        return tuple(found[0]), tuple(found[1])
    if isinstance(tags, str) or len(words) != len(tags):
        raise CellError(f"expected words and as many tags, got {shorten(words)}, {shorten(tags)}")
    if not all(isinstance(item, str) for item in (*words, *tags)):
        raise CellError(f"words and tags must be texts, got {shorten(words)}, {shorten(tags)}")
    for tag in tags:
        if tag.split() != [tag]:
            raise CellError(
                f"the tag {quote(tag)} is empty or has blanks in it; tags are printed apart by blanks"
            )
    return tuple(words), tuple(tags)
