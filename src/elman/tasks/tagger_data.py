"""What a tagger learns from: sentences whose words have tags, in files and as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from elman.errors import ConfigError, DataError
from elman.tasks.settings import Files
from elman.tasks.words import Forms, Row
from elman.text import conll, parallel


@dataclass(frozen=True)
class Data(Files):
    """Where the sentences are: CoNLL-U, CoNLL columns, or a file of words and one of tags."""

    format: Literal["", "conllu", "columns"] = ""  # "": by the ending
    # Of the tags: a name or a number, or several (upos,feats); "": upos, or the last.
    column: str = ""

    @property
    def columns(self) -> tuple[str, ...] | None:
        return tuple(part.strip() for part in self.column.split(",")) if self.column else None


class Example(NamedTuple):
    words: tuple[str, ...]
    tags: tuple[tuple[str, ...], ...]  # for each column, one a word
    columns: tuple[str, ...] = ("tags",)  # their names
    where: str = ""  # file:line of the first word


def read(data: Data, source: str | tuple[str, ...], *, train: bool = False) -> Iterator[Example]:
    """The sentences of a file, or of a file of words and one of tags."""
    paths = (source,) if isinstance(source, str) else source
    if len(paths) == 2:
        yield from _lines(data, paths)
    elif len(paths) == 1:
        for s in conll.sentences(
            paths[0], columns=data.columns, format=data.format or None, encoding=data.encoding
        ):
            names = s.layout.names or [str(i + 1) for i in range(s.layout.width)]
            columns = tuple(names[i] for i in s.layout.places(data.columns))
            yield Example(s.words, s.tags, columns, f"{paths[0]}:{s.line + s.at[0]}")
    else:
        raise ConfigError(f"sentences are in one file or in two, not in {len(paths)}")


def _lines(data: Data, paths: tuple[str, ...]) -> Iterator[Example]:
    if data.column or data.format:
        raise ConfigError(
            "a file of words and one of tags have no columns: leave out column, format"
        )
    empty = True
    for number, (text, line) in parallel.parallel(paths, encoding=data.encoding):
        words, tags = text.split(), line.split()
        if len(words) != len(tags):
            raise DataError(
                f"{paths[1]}:{number}: {len(tags)} tags for the {len(words)} words of "
                f"{paths[0]}:{number}; expected one a word"
            )
        if words:
            empty = False
            yield Example(tuple(words), (tuple(tags),), where=f"{paths[0]}:{number}")
    if empty:
        raise DataError(f"{paths[0]}: the file has no sentences")


@dataclass(frozen=True)
class Encoded:
    """Sentences as numbers, beside what they were."""

    rows: list[Row]
    forms: Forms
    tags: list[npt.NDArray[np.int64]]  # (columns, words)
    examples: list[Example]

    def pick(self, index: Iterable[int]) -> Encoded:
        chosen = list(index)
        rows, tags = [self.rows[i] for i in chosen], [self.tags[i] for i in chosen]
        return Encoded(rows, self.forms, tags, [self.examples[i] for i in chosen])

    def __len__(self) -> int:
        return len(self.rows)
