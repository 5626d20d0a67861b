"""Texts with labels: where they are, and how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from elman.errors import ConfigError
from elman.tasks.config import UnlabelledConfig
from elman.tasks.label_data import (
    LabelDataConfig,
    MultilabelExample,
    build_examples,
    count_labels,
    read_label_rows,
    read_labeled,
)
from elman.tasks.label_sets import sniff_delimiter, split_labels
from elman.text.byte_source import display_name
from elman.text.tables import InMemory, TableFormat, TableRows
from elman.text.trees import read_phrases


@dataclass(frozen=True)
class ClassifierDataConfig(UnlabelledConfig, LabelDataConfig):
    """Where the examples are: a table, or a file of texts and one of labels."""

    format: Literal["", TableFormat, "blank", "trees"] = ""  # "": by the ending
    text: str = "text"  # column: a name, or a number from 1
    multi: bool = False  # several labels a text, or none: a list of them, or a text with a delimiter
    label_delimiter: str = ""  # between the labels of a text; "": the most frequent of ; | ,
    phrases: bool = False  # of trees, train on every node and not only on the roots

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_delimiter and not self.multi:
            raise ConfigError("label_delimiter is given, which is for several labels a text: say --multi, too")
        if self.multi and self.format == "trees":
            raise ConfigError("multi is for tables; a tree has one label")
        if self.skip_bad and self.format == "trees":
            raise ConfigError("skip_bad is for tables; a file of trees is read whole")


class ClassifierExample(NamedTuple):
    text: str
    label: str
    where: str = ""  # file:line

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,)


def read_examples(
    data: ClassifierDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> Iterator[ClassifierExample] | Iterator[MultilabelExample]:
    """The examples of a file, labels renamed as ``data`` says."""
    paths = (source,) if isinstance(source, str) else source
    if data.multi:
        return _read_multilabel(data, paths)
    if len(paths) == 1 and data.format == "trees" and not isinstance(paths[0], InMemory):
        if data.label_until:
            raise ConfigError("label_until is for tables: the labels of trees are single digits")
        rows = read_phrases(paths[0], roots=not (train and data.phrases), encoding=data.encoding)
        return build_examples(ClassifierExample, data, rows, display_name(paths[0]))
    return read_labeled(ClassifierExample, data, paths, ("text", "label"), train=train)


def _read_multilabel(data: ClassifierDataConfig, paths: tuple[str, ...]) -> Iterator[MultilabelExample]:
    """Texts with sets of labels; a label without a new name, where there are any, is left out of its set."""
    delimiter = resolve_delimiter(replace(data, train=paths)).label_delimiter
    rows = _read_label_cells(data, paths)
    return count_labels(_build_multilabel(data, rows, delimiter, display_name(paths[0])), rows)


def _build_multilabel(
    data: ClassifierDataConfig, rows: Iterable[tuple[int, tuple[str, Any]]], delimiter: str, file: str
) -> Iterator[MultilabelExample]:
    for number, (text, cell) in rows:
        where = f"{file}:{number}"
        labels = split_labels(cell, delimiter, where)
        if data.label_until:
            labels = tuple(label.split(data.label_until, 1)[0].strip() for label in labels)
        if data.labels:
            labels = tuple(data.labels[label] for label in labels if label in data.labels)
        yield MultilabelExample(text, tuple(dict.fromkeys(filter(None, labels))), where, delimiter)


def resolve_delimiter(data: ClassifierDataConfig) -> ClassifierDataConfig:
    """The same with the delimiter that the training data has."""
    if not data.multi or data.label_delimiter:
        return data
    paths = (data.train,) if isinstance(data.train, str) else data.train
    cells = (cell for _, (_, cell) in _read_label_cells(data, paths))
    return replace(data, label_delimiter=sniff_delimiter(cells))


def _read_label_cells(data: ClassifierDataConfig, paths: tuple[str, ...]) -> TableRows:
    return read_label_rows(data, paths, ("text", "label"), as_is=("label",))
