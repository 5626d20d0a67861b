"""What a tagger learns from: sentences whose words have tags, in files and as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import ConfigError, DataError
from elman.tasks.config import ExamplesConfig, UnlabelledConfig
from elman.tasks.tagger.tables import read_tagged_rows
from elman.tasks.word_batch import WordForms, WordRow
from elman.text import conll, files
from elman.text.byte_source import display_name
from elman.text.conll_comments import DOCUMENT_START
from elman.text.tables import BadRows, InMemory, TableReport, publish_report, table_format


@dataclass(frozen=True)
class TaggerDataConfig(UnlabelledConfig, ExamplesConfig):
    """Where the sentences are: CoNLL-U, CoNLL columns, a table, or a file of words and one of tags."""

    format: Literal["", "conllu", "columns", "jsonl", "json", "parquet"] = ""  # "": by the ending
    # Of the tags: a name or a number, or several (upos,feats); "": upos, or the last.
    column: str = ""
    words: str = "words"  # column of the words of a table: a name
    inputs: str = ""  # columns that are read beside the words, not tagged: a part of speech, say

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inputs and not self.column:
            raise ConfigError("inputs are given, but not the column of the tags; say both")

    @property
    def columns(self) -> tuple[str, ...] | None:
        return _split_names(self.column) if self.column else None

    @property
    def input_columns(self) -> tuple[str, ...]:
        return _split_names(self.inputs) if self.inputs else ()


def _split_names(names: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in names.split(","))


class TaggerExample(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]  # for each column, one a word
    columns: tuple[str, ...] = ("tags",)  # their names
    where: str = ""  # file:line of the first word
    inputs: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # further columns that are read


def read_examples(
    data: TaggerDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> Iterator[TaggerExample]:
    """The sentences of a file, or of a file of words and one of tags."""
    paths = (source,) if isinstance(source, str) else source
    if len(paths) == 1 and _is_table(data, paths[0]):
        yield from _table(data, paths[0])
    elif len(paths) == 2:
        yield from _lines(data, paths)
    elif len(paths) == 1:
        yield from _columns(data, paths[0])
    else:
        raise ConfigError(f"sentences are in one file or in two, not in {len(paths)}")


def _is_table(data: TaggerDataConfig, source: str) -> bool:
    return isinstance(source, InMemory) or (data.format or table_format(source)) in ("jsonl", "json", "parquet")


def _table(data: TaggerDataConfig, source: str) -> Iterator[TaggerExample]:
    if data.inputs:
        raise ConfigError("inputs are columns of a CoNLL file; a table has words and tags")
    options = {"encoding": data.encoding, "skip_bad": data.skip_bad, "format": data.format or None}
    if isinstance(source, InMemory) and all(isinstance(row, TaggerExample) for row in source.rows):
        yield from source.rows
        return
    wanted = {"words": data.words, "tags": data.column or "tags"}
    for number, words, tags in read_tagged_rows(source, wanted, **options):
        if not _starts_document(words):
            yield TaggerExample(words, (tags,), where=f"{display_name(source)}:{number}")


def _columns(data: TaggerDataConfig, path: str) -> Iterator[TaggerExample]:
    asked, inputs = data.columns, data.input_columns
    wanted = (asked or ()) + inputs if inputs else asked
    bad, count, columns = BadRows(display_name(path), "sentence"), 0, asked or ()
    options: Any = {"format": data.format or None, "encoding": data.encoding, "bad": bad}
    for s in conll.read_sentences(path, columns=wanted, **options):
        names = s.layout.names or [str(i + 1) for i in range(s.layout.width)]
        if s.layout.word in s.layout.places(asked):
            raise ConfigError(f"column {names[s.layout.word]} holds the words: name another one with --column")
        columns = tuple(names[i] for i in s.layout.places(asked))
        tags, given = s.tags[: len(columns)], s.tags[len(columns) :]
        read = dict(zip((names[i] for i in s.layout.places(inputs)), given, strict=True))
        yield TaggerExample(s.words, tags, columns, f"{display_name(path)}:{s.line + s.at[0]}", read)
        count += 1
    _finish(data, bad, count, path, {"tags": " and ".join(map(_describe_column, columns))})


def _describe_column(name: str) -> str:
    return f"column {name}" if name.isdecimal() else name


def _finish(data: TaggerDataConfig, bad: BadRows, count: int, path: str, columns: dict[str, str]) -> None:
    """Refuse or report what was left out."""
    if not data.skip_bad or not count:
        bad.refuse(count + bad.counts.total())
    publish_report(TableReport(display_name(path), count, columns, skipped=dict(bad.counts), unit="sentence"))


def _lines(data: TaggerDataConfig, paths: tuple[str, ...]) -> Iterator[TaggerExample]:
    if data.column or data.format or data.inputs:
        raise ConfigError("a file of words and one of tags have no columns: leave out column, format, inputs")
    bad, count = BadRows(display_name(paths[1]), "sentence"), 0
    for number, (text, line) in files.read_parallel(paths, encoding=data.encoding):
        words, tags = text.split(), line.split()
        if len(words) != len(tags):
            found = f"{len(tags)} tags for the {len(words)} words of {paths[0]}:{number}"
            bad.add(number, f"{found}; expected one a word")
        elif words and not _starts_document(words):
            count += 1
            yield TaggerExample(tuple(words), (tuple(tags),), where=f"{display_name(paths[0])}:{number}")
    if not count and not bad.counts:
        raise DataError(f"{paths[0]}: the file has no sentences")
    _finish(data, bad, count, paths[0], {})


def _starts_document(words: Sequence[str]) -> bool:
    """Whether a sentence is a mark between documents, not words."""
    return len(words) == 1 and words[0] == DOCUMENT_START


@dataclass(frozen=True)
class TaggerDataset:
    """Sentences as numbers, beside what they were."""

    rows: list[WordRow]
    forms: WordForms
    tags: list[npt.NDArray[np.int64]]  # (columns, words)
    examples: list[TaggerExample]

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.rows]

    def pick(self, index: Iterable[int]) -> TaggerDataset:
        chosen = list(index)
        rows, tags = [self.rows[i] for i in chosen], [self.tags[i] for i in chosen]
        return TaggerDataset(rows, self.forms, tags, [self.examples[i] for i in chosen])

    def __len__(self) -> int:
        return len(self.rows)
