"""CoNLL columns and CoNLL-U: a word a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from elman.errors import ConfigError, DataError
from elman.text.conll_format import ColumnFormat, ColumnLayout, ConlluFormat
from elman.text.files import BOM, Source, display_name, file_extension, read_raw_lines, strip_line_end

Columns = tuple[str, ...] | None

FORMATS: dict[str, type[ColumnFormat | ConlluFormat]] = {"conllu": ConlluFormat, "columns": ColumnFormat}


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
    layout: ColumnLayout


def read_sentences(
    source: Source, *, columns: Columns = None, format: str | None = None, encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """The sentences of a file with the tags of some columns: numbers or, in CoNLL-U, names.

    Without `columns` the tags are UPOS in CoNLL-U and the last column elsewhere; ``columns=()``
    reads the words only. `format` is "conllu" for the ending `.conllu`, else "columns".
    """
    empty = True
    for block in read_blocks(source, columns=columns, format=format, encoding=encoding):
        if block.words:
            empty = False
            yield block
    if empty:
        raise DataError(f"{display_name(source)}: the file has no sentences")


def read_blocks(
    source: Source, *, columns: Columns = None, format: str | None = None, encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """Sentences whose raw lines together are the whole file; the last may have no words."""
    format = format or ("conllu" if file_extension(source) == ".conllu" else "columns")
    if format not in FORMATS:
        raise ConfigError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    reader = FORMATS[format](display_name(source), columns)
    wide = 1 if columns is None else len(columns)
    raw: list[str] = []
    at: list[int] = []
    rows: list[list[str]] = []

    def sentence(last: int) -> Sentence:
        words, *tags = (tuple(row[place] for row in rows) for place in range(1 + wide))
        return Sentence(words, tuple(tags), tuple(raw), tuple(at), last - len(raw) + 1, reader.layout)

    number = 0
    for number, line in read_raw_lines(source, encoding=encoding):
        raw.append(line)
        text = strip_line_end(line, first=number == 1)
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


def fill_tags(sentence: Sentence, columns: Columns, tags: Sequence[Sequence[str]]) -> list[str]:
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
        text = strip_line_end(lines[at], first=first)
        mark = BOM if first and lines[at].startswith(BOM) else ""
        end = lines[at][len(mark + text) :]
        lines[at] = mark + sentence.layout.fill(text, new) + end
    return lines
