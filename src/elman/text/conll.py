"""CoNLL columns and CoNLL-U: a word a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from elman.errors import ConfigError, DataError
from elman.text.columns import Columns, Conllu
from elman.text.files import Source, ending, read, shown
from elman.text.lines import bare

FORMATS = ("conllu", "columns")


@dataclass(frozen=True)
class Sentence:
    """Words, one tag each, and the lines of the file they came from.

    `raw` holds every line as it stands in the file (comments, multiword ranges, empty nodes and
    blank lines too), from line number `line` on; ``raw[at[i]]`` is the line of ``words[i]``.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    raw: tuple[str, ...]
    at: tuple[int, ...]
    line: int


def sentences(
    source: Source,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """The sentences of a file with the tags of one column: a number or, in CoNLL-U, a name.

    Without `column` the tags are UPOS in CoNLL-U and the last column elsewhere. A file of words
    only is read with ``column="1"``. `format` is "conllu" for the ending `.conllu`, else "columns".
    """
    empty = True
    for block in blocks(source, column=column, format=format, encoding=encoding):
        if block.words:
            empty = False
            yield block
    if empty:
        raise DataError(f"{shown(source)}: the file has no sentences")


def blocks(
    source: Source,
    *,
    column: str | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """Sentences whose raw lines together are the whole file; the last may have no words."""
    name = shown(source)
    layout = _layout(source, name, column, format)
    raw: list[str] = []
    at: list[int] = []
    pairs: list[tuple[str, str]] = []
    number = 0
    for number, line in read(source, encoding=encoding):
        raw.append(line)
        text = bare(line, first=number == 1)
        if text.strip(" \t"):
            pair = layout.pair(number, text, len(pairs))
            if pair is not None:
                at.append(len(raw) - 1)
                pairs.append(pair)
        elif pairs:
            yield _sentence(pairs, raw, at, number)
            raw, at, pairs = [], [], []
    if raw:
        yield _sentence(pairs, raw, at, number)


def _sentence(pairs: list[tuple[str, str]], raw: list[str], at: list[int], last: int) -> Sentence:
    words = tuple(word for word, _ in pairs)
    tags = tuple(tag for _, tag in pairs)
    return Sentence(words, tags, tuple(raw), tuple(at), last - len(raw) + 1)


def _layout(source: Source, name: str, column: str | None, format: str | None) -> Columns | Conllu:
    format = format or ("conllu" if ending(source) == ".conllu" else "columns")
    if format == "conllu":
        return Conllu(name, column or "upos")
    if format == "columns":
        return Columns(name, column)
    raise ConfigError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
