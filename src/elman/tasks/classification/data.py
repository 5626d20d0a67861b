"""Texts with labels: where they are, how they are read, and as numbers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from elman.errors import ConfigError
from elman.tasks.settings import Files
from elman.tasks.words import Forms, Row
from elman.text import parallel, tables, trees


@dataclass(frozen=True)
class Data(Files):
    """Where the examples are: a table, or a file of texts and one of labels."""

    format: Literal["", "tsv", "csv", "jsonl", "blank", "trees"] = ""  # "": by the ending
    text: str = "text"  # column: a name, or a number from 1
    label: str = "label"
    label_until: str = ""  # labels end before this: of LOC:city, ":" leaves LOC
    labels: dict[str, str] = field(default_factory=dict)  # new names; what has none is left out
    phrases: bool = False  # of trees, train on every node and not only on the roots


class Example(NamedTuple):
    text: str
    label: str
    where: str = ""  # file:line


def read(data: Data, source: str | tuple[str, ...], *, train: bool = False) -> Iterator[Example]:
    """The examples of a file, labels renamed as ``data`` says."""
    paths = (source,) if isinstance(source, str) else source
    if not train:
        return _examples(data, paths, train)
    found = list(_examples(data, paths, train))
    if len(paths) == 1 and data.format != "trees":
        _suspect_header(found)
    return iter(found)


def _examples(data: Data, paths: tuple[str, ...], train: bool) -> Iterator[Example]:
    for number, (text, label) in _pairs(data, paths, train):
        if data.label_until:
            label = label.split(data.label_until, 1)[0]
        if data.labels:
            if label not in data.labels:
                continue
            label = data.labels[label]
        yield Example(text, label, f"{paths[0]}:{number}")


def _pairs(
    data: Data, paths: tuple[str, ...], train: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    if len(paths) == 2:
        return parallel.parallel(paths, encoding=data.encoding)
    if len(paths) != 1:
        raise ConfigError(f"examples are in one file or in two, not in {len(paths)}")
    if data.format == "trees":
        roots = not (train and data.phrases)
        return trees.phrases(paths[0], roots=roots, encoding=data.encoding)
    columns = (data.text, data.label)
    return tables.rows(
        paths[0],
        columns,
        format=data.format or None,
        encoding=data.encoding,
        header=columns != ("text", "label"),
    )


def _suspect_header(examples: Sequence[Example]) -> None:
    """Say so where the first line of a table looks like the names of its columns: they are no example."""
    counts = Counter(e.label for e in examples)
    first = examples[0] if len(examples) > 10 * len(counts) else None
    if first and first.where.endswith(":1") and counts[first.label] == 1:
        warnings.warn(
            f"{first.where}: no other line has the label {first.label!r}; if this line names the columns, "
            f"say which: text={first.text!r} and label={first.label!r}",
            stacklevel=3,
        )


@dataclass(frozen=True)
class Encoded:
    """Examples as numbers."""

    rows: list[Row]
    forms: Forms
    labels: list[int]

    @property
    def lengths(self) -> list[int]:
        return [len(row) for row in self.rows]

    def pick(self, index: Iterable[int]) -> Encoded:
        chosen = list(index)
        rows, labels = [self.rows[i] for i in chosen], [self.labels[i] for i in chosen]
        return Encoded(rows, self.forms, labels)

    def __len__(self) -> int:
        return len(self.rows)
