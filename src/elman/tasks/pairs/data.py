"""Pairs of texts with labels: how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from elman.errors import DataError
from elman.tasks.label_data import build_examples, read_labeled_rows, warn_of_header
from elman.tasks.pairs.config import PairsDataConfig
from elman.text.quoting import quote

COLUMNS = ("first", "second", "label")


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
    examples = build_examples(PairsExample, data, read_labeled_rows(data, paths, COLUMNS), paths[0])
    return warn_of_header(examples, COLUMNS) if train and len(paths) == 1 else examples


def split_line(line: str) -> tuple[str, str]:
    """The two texts of a line that has a tab between them."""
    texts = line.split("\t")
    if len(texts) != 2 or not all(map(str.strip, texts)):
        raise DataError(f"expected two texts with a tab between them, not {quote(line)}")
    return texts[0], texts[1]
