"""Examples that have one label: texts or pairs of texts, from a table and as numbers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from elman.errors import ConfigError
from elman.tasks.config import ExamplesConfig
from elman.tasks.word_batch import WordForms, WordRow
from elman.text.files import read_parallel
from elman.text.tables import read_rows


@dataclass(frozen=True)
class LabelDataConfig(ExamplesConfig):
    """Where the examples are, and what becomes of their labels."""

    label: str = "label"  # column: a name, or a number from 1
    label_until: str = ""  # labels end before this: of LOC:city, ":" leaves LOC
    labels: dict[str, str] = field(default_factory=dict)  # new names; what has none is left out


@runtime_checkable
class LabeledExample(Protocol):
    """One text or several, their label, and the file:line where they stand."""

    @property
    def texts(self) -> tuple[str, ...]: ...
    @property
    def label(self) -> str: ...
    @property
    def where(self) -> str: ...


E = TypeVar("E", bound=LabeledExample)


def read_labeled(
    make: Callable[..., E], data: Any, paths: tuple[str, ...], columns: tuple[str, ...], *, train: bool
) -> Iterator[E]:
    """The examples of a table, or of one file for each column; ``data`` says what these are called."""
    if len(paths) == len(columns):
        return build_examples(make, data, read_parallel(paths, encoding=data.encoding), paths[0])
    if len(paths) != 1:
        files = f"{len(columns)} files ({', '.join(columns)})"
        raise ConfigError(f"examples are in one table, or in {files}, not in {len(paths)}")
    chosen = tuple(getattr(data, column) for column in columns)
    format, header = data.format or None, chosen != columns
    rows = read_rows(paths[0], chosen, format=format, encoding=data.encoding, header=header)
    examples = build_examples(make, data, rows, paths[0])
    return _warn_of_header(examples, columns) if train else examples


def build_examples(
    make: Callable[..., E], data: LabelDataConfig, rows: Iterable[tuple[int, Sequence[str]]], file: str
) -> Iterator[E]:
    """Examples of numbered rows that end with a label, which is shortened, renamed or left out."""
    for number, (*texts, label) in rows:
        if data.label_until:
            label = label.split(data.label_until, 1)[0]
        if not data.labels or label in data.labels:
            yield make(*texts, data.labels.get(label, label), f"{file}:{number}")


def _warn_of_header(found: Iterable[E], columns: Sequence[str]) -> Iterator[E]:
    """The examples; warns where the first line looks like the names of its columns: they are no example."""
    examples = list(found)
    counts = Counter(e.label for e in examples)
    first = examples[0] if len(examples) > 10 * len(counts) else None
    if first and first.where.endswith(":1") and counts[first.label] == 1:
        values = zip(columns, (*first.texts, first.label), strict=True)
        *others, last = (f"{column}={value!r}" for column, value in values)
        warnings.warn(
            f"{first.where}: no other line has the label {first.label!r}; if this line names the columns, "
            f"say which: {', '.join(others)} and {last}",
            stacklevel=5,
        )
    return iter(examples)


@dataclass(frozen=True)
class LabelDataset:
    """Examples as numbers: of each its texts and its label."""

    rows: list[tuple[WordRow, ...]]
    forms: WordForms
    labels: list[int]

    @property
    def lengths(self) -> list[tuple[int, ...]]:
        return [tuple(map(len, row)) for row in self.rows]

    def pick(self, index: Iterable[int]) -> LabelDataset:
        chosen = list(index)
        return LabelDataset([self.rows[i] for i in chosen], self.forms, [self.labels[i] for i in chosen])

    def __len__(self) -> int:
        return len(self.rows)
