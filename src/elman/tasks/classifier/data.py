"""Texts with labels: where they are, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from elman.tasks.label_data import LabelDataConfig, build_examples, read_labeled
from elman.text.in_memory import InMemory
from elman.text.trees import read_phrases


@dataclass(frozen=True)
class ClassifierDataConfig(LabelDataConfig):
    """Where the examples are: a table, or a file of texts and one of labels."""

    format: Literal["", "tsv", "csv", "jsonl", "blank", "trees"] = ""  # "": by the ending
    text: str = "text"  # column: a name, or a number from 1
    phrases: bool = False  # of trees, train on every node and not only on the roots


class ClassifierExample(NamedTuple):
    text: str
    label: str
    where: str = ""  # file:line

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text,)


def read_examples(
    data: ClassifierDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> Iterator[ClassifierExample]:
    """The examples of a file, labels renamed as ``data`` says."""
    paths = (source,) if isinstance(source, str) else source
    if len(paths) == 1 and data.format == "trees" and not isinstance(paths[0], InMemory):
        rows = read_phrases(paths[0], roots=not (train and data.phrases), encoding=data.encoding)
        return build_examples(ClassifierExample, data, rows, paths[0])
    return read_labeled(ClassifierExample, data, paths, ("text", "label"), train=train)
