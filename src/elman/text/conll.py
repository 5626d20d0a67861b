"""CoNLL columns and CoNLL-U: a word a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elman.errors import ConfigError, DataError
from elman.text.columns import Columns, Conllu, Layout
from elman.text.files import BOM, Source, ending, read, shown
from elman.text.lines import bare

FORMATS = ("conllu", "columns")


@dataclass(frozen=True)
class Sentence:
    """Words, for each column asked for one tag a word, and the lines of the file they came from.

    `raw` holds every line as it stands in the file (comments, multiword ranges, empty nodes and
    blank lines too), from line number `line` on; ``raw[at[i]]`` is the line of ``words[i]``.
    """

    words: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]
    at: tuple[int, ...]
    line: int
    layout: Layout


def sentences(
    source: Source,
    *,
    columns: tuple[str, ...] | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """The sentences of a file with the tags of some columns: numbers or, in CoNLL-U, names.

    Without `columns` the tags are UPOS in CoNLL-U and the last column elsewhere; ``columns=()``
    reads the words only. `format` is "conllu" for the ending `.conllu`, else "columns".
    """
    empty = True
    for block in blocks(source, columns=columns, format=format, encoding=encoding):
        if block.words:
            empty = False
            yield block
    if empty:
        raise DataError(f"{shown(source)}: the file has no sentences")


def blocks(
    source: Source,
    *,
    columns: tuple[str, ...] | None = None,
    format: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Sentence]:
    """Sentences whose raw lines together are the whole file; the last may have no words."""
    reader = _reader(source, columns, format)
    wide = 1 if columns is None else len(columns)
    raw: list[str] = []
    at: list[int] = []
    rows: list[list[str]] = []

    def sentence(last: int) -> Sentence:
        words, *tags = (tuple(row[place] for row in rows) for place in range(1 + wide))
        first = last - len(raw) + 1
        return Sentence(words, tuple(tags), tuple(raw), tuple(at), first, reader.layout)

    number = 0
    for number, line in read(source, encoding=encoding):
        raw.append(line)
        text = bare(line, first=number == 1)
        if text.strip(" \t"):
            row = reader.row(number, text, len(rows))
            if row is not None:
                at.append(len(raw) - 1)
                rows.append(row)
        elif rows:
            yield sentence(number)
            raw, at, rows = [], [], []
    if raw:
        yield sentence(number)


def filled(
    sentence: Sentence, columns: tuple[str, ...] | None, tags: Sequence[Sequence[str]]
) -> list[str]:
    """The raw lines with other tags, one list a column; all else stays as it is, byte for byte.

    In a file without names, the column after the last is a new one; without `columns` it is the
    last that is filled, or the second where there are only words.
    """
    lines = list(sentence.raw)
    cells: dict[int, dict[int, str]] = {at: {} for at in sentence.at}
    for place, column in zip(sentence.layout.places(columns), tags, strict=True):
        for at, tag in zip(sentence.at, column, strict=True):
            cells[at][place] = tag
    for at, new in cells.items():
        first = sentence.line + at == 1
        text = bare(lines[at], first=first)
        mark = BOM if first and lines[at].startswith(BOM) else ""
        end = lines[at][len(mark + text) :]
        lines[at] = mark + sentence.layout.filled(text, new) + end
    return lines


def _reader(
    source: Source, columns: tuple[str, ...] | None, format: str | None
) -> Columns | Conllu:
    format = format or ("conllu" if ending(source) == ".conllu" else "columns")
    if format == "conllu":
        return Conllu(shown(source), columns)
    if format == "columns":
        return Columns(shown(source), columns)
    raise ConfigError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
