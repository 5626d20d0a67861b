"""Examples that have labels: texts or pairs of texts, from a table and as numbers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from elman.errors import ConfigError, DataError, quote
from elman.tasks.config import ExamplesConfig
from elman.tasks.label_sets import clean_label, warn_of_delimited
from elman.tasks.word_batch import WordForms, WordRow
from elman.text.byte_source import display_name
from elman.text.tables import CellError, TableRows, open_parallel, publish_report
from elman.text.vocab import Labels


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


class MultilabelExample(NamedTuple):
    """A text and its labels, of which there may be none."""

    text: str
    labels: tuple[str, ...]
    where: str = ""  # file:line
    delimiter: str = ";"  # between the labels, where they are written as one

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,)

    @property
    def label(self) -> str:
        return self.delimiter.join(self.labels)


E = TypeVar("E", bound=LabeledExample)


def read_labeled(
    make: Callable[..., E], data: Any, paths: tuple[str, ...], columns: tuple[str, ...], *, train: bool
) -> Iterator[E]:
    """The examples of a table, or of one file for each column; ``data`` says what these are called."""
    rows = read_label_rows(data, paths, columns)
    checked = rows.check(lambda *cells: (*cells[:-1], _shorten_label(cells[-1], data.label_until)))
    examples = count_labels(build_examples(make, data, checked, display_name(paths[0])), rows)
    if not train or len(paths) != 1:
        return examples
    return _warn_of_labels(_warn_of_header(examples, columns))


def read_label_rows(
    data: Any, paths: tuple[str, ...], columns: tuple[str, ...], *, as_is: Collection[str] = ()
) -> TableRows:
    """Numbered rows of a table, or of one file for each column; cells of columns ``as_is`` may be anything."""
    source: Any = paths[0]
    if len(paths) == len(columns):
        source = open_parallel(paths, columns, encoding=data.encoding)
    elif len(paths) != 1:
        files = f"{len(columns)} files ({', '.join(columns)})"
        raise ConfigError(f"examples are in one table, or in {files}, not in {len(paths)}")
    chosen = columns if len(paths) > 1 else (getattr(data, column) for column in columns)
    wanted, format = dict(zip(columns, chosen, strict=True)), data.format or None
    options: Any = {"format": format, "encoding": data.encoding, "skip_bad": data.skip_bad, "as_is": as_is}
    rows = TableRows(source, wanted, **options)
    for number, place in enumerate(rows.places):
        if place in rows.places[:number]:
            both = f"{columns[rows.places.index(place)]} and {columns[number]}"
            raise ConfigError(f"one column is to be {both}: name another one with --{columns[number]}")
    return rows


def count_labels(examples: Iterable[E], rows: TableRows) -> Iterator[E]:
    """The examples; when all rows are read, a report says how many labels they have."""
    labels: set[str] = set()
    for example in examples:
        labels.update(labels_of(example))
        yield example
    publish_report(replace(rows.report, labels=len(labels)))


def _shorten_label(label: str, until: str) -> str:
    short = clean_label(label.split(until, 1)[0] if until else label)
    if not short:
        raise CellError(f"nothing is left of the label {quote(label)} before {until!r}", "without label")
    return short


def build_examples(
    make: Callable[..., E], data: LabelDataConfig, rows: Iterable[tuple[int, Sequence[str]]], file: str
) -> Iterator[E]:
    """Examples of numbered rows that end with a label, which is renamed or left out."""
    for number, (*texts, label) in rows:
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


def _warn_of_labels(found: Iterable[E]) -> Iterator[E]:
    """The examples; warns where their labels look like several in one."""
    examples = list(found)
    warn_of_delimited(e.label for e in examples)
    return iter(examples)


def labels_of(example: LabeledExample) -> tuple[str, ...]:
    """The label of an example, or all of them."""
    return example.labels if isinstance(example, MultilabelExample) else (example.label,)


def build_labels(examples: Sequence[LabeledExample]) -> Labels:
    """The labels to learn, where they can be learnt."""
    counts = label_counts(examples)
    labels = Labels.build(counts)
    if len(labels.items) < 2 and all(map(labels_of, examples)):
        raise DataError(
            f"all examples to train on have the label {labels.items[0]!r}: nothing to decide; "
            "give examples of two labels or more"
        )
    return labels


def label_counts(examples: Sequence[LabeledExample]) -> Counter[str]:
    """How often each label occurs, where there are not so many that they must be something else."""
    counts = Counter(label for e in examples for label in labels_of(e))
    if len(counts) > max(100, len(examples) // 2):
        raise DataError(
            f"{len(counts)} different labels in {len(examples)} examples: are the columns the "
            "wrong way round? name them, or give a number: --label 1"
        )
    return counts


@dataclass(frozen=True)
class LabelDataset:
    """Examples as numbers: of each its texts, and its label or labels as the decision encodes them."""

    rows: list[tuple[WordRow, ...]]
    forms: WordForms
    labels: list[Any]
    examples: Sequence[LabeledExample] = ()  # what they were
    max_tokens: int = 0  # of a longer text so many are read; 0: all

    @property
    def lengths(self) -> list[tuple[int, ...]]:
        """Tokens of each text that are read."""
        most = self.max_tokens
        return [tuple(min(len(text), most or len(text)) for text in row) for row in self.rows]

    def pick(self, index: Iterable[int]) -> LabelDataset:
        chosen = list(index)
        examples = [self.examples[i] for i in chosen] if self.examples else ()
        rows, labels = [self.rows[i] for i in chosen], [self.labels[i] for i in chosen]
        return LabelDataset(rows, self.forms, labels, examples, self.max_tokens)

    def __len__(self) -> int:
        return len(self.rows)
