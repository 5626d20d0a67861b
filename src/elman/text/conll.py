"""CoNLL columns and CoNLL-U: a word a line, a blank line after each sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from elman.errors import ConfigError, DataError
from elman.text.byte_source import Source, display_name, file_extension
from elman.text.conll_comments import announces_document, is_document_start, looks_like_comment
from elman.text.conll_format import ColumnReader
from elman.text.conll_layout import CONLLU, ColumnLayout, detect_layout
from elman.text.files import BOM, read_raw_lines, strip_line_end
from elman.text.tables.bad_rows import BadRows

Columns = tuple[str, ...] | None

Lines = Iterator[tuple[int, str]]

FORMATS = ("conllu", "columns")
_ENOUGH = 100  # rows to tell a layout by, where no blank line comes


@dataclass(frozen=True)
class Sentence:
    """Words, for each column asked for one tag a word, and the lines of the file they came from.

    `raw` holds every line as it stands in the file (comments, starts of documents, multiword ranges, empty
    nodes and blank lines too), from line number `line` on; ``raw[at[i]]`` is the line of ``words[i]``.
    """

    words: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]
    at: tuple[int, ...]
    line: int
    layout: ColumnLayout
    document: int = 0  # how many documents began before it, by -DOCSTART-, newdoc or "begin document"


def read_sentences(
    source: Source,
    *,
    columns: Columns = None,
    format: str | None = None,
    encoding: str = "utf-8",
    bad: BadRows | None = None,
) -> Iterator[Sentence]:
    """The sentences of a file with the tags of some columns: numbers or, in CoNLL-U, names.

    Without `columns` the tags are UPOS in CoNLL-U and the last column elsewhere; ``columns=()``
    reads the words only. Without `format` it is "conllu" by the ending `.conllu` or where the first of ten
    columns counts the words, else "columns". A sentence with a line that cannot be read is an error, or is left
    out and counted among the ``bad``.
    """
    empty = True
    for block in read_blocks(source, columns=columns, format=format, encoding=encoding, bad=bad):
        if block.words:
            empty = False
            yield block
    if empty and not (bad and bad.counts):
        raise DataError(f"{display_name(source)}: the file has no sentences")


def read_blocks(
    source: Source,
    *,
    columns: Columns = None,
    format: str | None = None,
    encoding: str = "utf-8",
    bad: BadRows | None = None,
) -> Iterator[Sentence]:
    """Sentences whose raw lines together are the whole file; the last, and bad ones, have no words."""
    if format not in (None, *FORMATS):
        raise ConfigError(f"unknown format {format!r}; choose from {', '.join(FORMATS)}")
    format = format or ("conllu" if file_extension(source) == ".conllu" else None)
    lines, layout = _detect(read_raw_lines(source, encoding=encoding), format)
    reader = ColumnReader(display_name(source), columns, layout)
    block, document, number = _Block(reader, 1 if columns is None else len(columns), bad), 0, 0
    for number, line in lines:
        text = strip_line_end(line, first=number == 1)
        starts = is_document_start(text)
        if starts and block.begun:  # a sentence ends here, though no blank line says so
            yield block.sentence(number - 1, document)
            block = block.next()
        document += starts or announces_document(text)
        block.raw.append(line)
        if text.strip(" \t") and not starts:
            block.read(number, text)
        elif block.begun:
            yield block.sentence(number, document)
            block = block.next()
    if block.raw:
        yield block.sentence(number, document)


class _Block:
    """The lines since the last sentence, and the words among them."""

    def __init__(self, reader: ColumnReader, wide: int, bad: BadRows | None) -> None:
        self.reader, self.wide, self.bad = reader, wide, bad
        self.broken = False  # a line could not be read
        self.raw: list[str] = []
        self.at: list[int] = []
        self.rows: list[list[str]] = []

    @property
    def begun(self) -> bool:
        return bool(self.rows) or self.broken

    def next(self) -> _Block:
        return _Block(self.reader, self.wide, self.bad)

    def read(self, number: int, text: str) -> None:
        try:
            row = None if self.broken else self.reader.row(number, text, len(self.rows))
        except DataError as error:
            if self.bad is None:
                raise
            self.bad.add_error(error, number)
            self.broken = True
            self.at, self.rows = [], []
            return
        if row is not None:
            self.at.append(len(self.raw) - 1)
            self.rows.append(row)

    def sentence(self, last: int, document: int) -> Sentence:
        words, *tags = (tuple(row[place] for row in self.rows) for place in range(1 + self.wide))
        raw, layout = tuple(self.raw), self.reader.layout
        return Sentence(words, tuple(tags), raw, tuple(self.at), last - len(raw) + 1, layout, document)


def _detect(lines: Lines, format: str | None) -> tuple[Lines, ColumnLayout]:
    """The same lines, and the layout that their first sentences show."""
    if format == "conllu":
        return lines, CONLLU
    head: list[tuple[int, str]] = []
    sentences: list[list[str]] = [[]]
    hashes: list[str] = []  # comments, or words where nothing else is there
    for number, line in lines:
        head.append((number, line))
        text = strip_line_end(line, first=number == 1)
        if len(sentences[-1]) == _ENOUGH:
            break
        if is_document_start(text) or looks_like_comment(text):
            continue
        if text.startswith(("# ", "#\t")):
            hashes.append(text)
        elif text.strip(" \t"):
            sentences[-1].append(text)
        elif sentences[-1]:
            if sum(map(len, sentences)) > 1:
                break
            sentences.append([])
    layout = detect_layout([rows for rows in sentences if rows] or [hashes])
    is_conllu = format is None and layout.counted and layout.tabs and layout.width == CONLLU.width
    return chain(head, lines), CONLLU if is_conllu else layout


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
