"""Pairs of texts with labels: where they are, and how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from elman.errors import DataError, quote
from elman.tasks.label_data import LabelDataConfig, read_labeled
from elman.text.tables import TableFormat


@dataclass(frozen=True)
class PairsDataConfig(LabelDataConfig):
    """Where the pairs are: a table, or a file of first texts, one of second texts and one of labels."""

    format: Literal["", TableFormat] = ""  # "": by the ending
    first: str = "first"  # column: a name, or a number from 1
    second: str = "second"


class PairsExample(NamedTuple):
    first: str
    second: str
    label: str
    where: str = ""  # file:line

    @property
    def texts(self) -> tuple[str, ...]:
        return self.first, self.second


def read_examples(
    data: PairsDataConfig, source: str | tuple[str, ...], *, train: bool = False
) -> Iterator[PairsExample]:
    """The examples of a table, or of three files; labels are renamed as ``data`` says."""
    paths = (source,) if isinstance(source, str) else source
    return read_labeled(PairsExample, data, paths, ("first", "second", "label"), train=train)


def split_line(line: str, where: str = "") -> tuple[str, str]:
    """The two texts of a line that has a tab between them; ``where`` begins the message if it has not."""
    texts = line.split("\t")
    if len(texts) != 2 or not all(map(str.strip, texts)):
        raise DataError(f"{where}expected two texts with a tab between them, not {quote(line)}")
    return texts[0], texts[1]
