"""Several labels in one cell: a list of them, or a text with a delimiter between them."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from elman.errors import DataError, quote
from elman.text.tables.cell_text import CellError, cell_text, is_nothing

DELIMITERS = ";|,"
_LINE_ENDS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")  # and tabs


def clean_label(label: str) -> str:
    """A label without blanks around it, so that "NUM " is no other one; it must be one line."""
    label = label.strip()
    if found := _LINE_ENDS.search(label):
        raise CellError(f"the label {quote(label)} holds {found[0]!r}; a label is one line without tabs")
    return label


def split_labels(cell: Any, delimiter: str, where: str) -> tuple[str, ...]:
    """The labels of a cell, each once; a cell of nothing has none."""
    if isinstance(cell, str):
        parts: Iterable[Any] = cell.split(delimiter)
    elif isinstance(cell, Iterable) and not isinstance(cell, bytes | Mapping):
        parts = cell
    else:
        parts = () if is_nothing(cell) else (cell,)
    try:
        labels = [clean_label(cell_text(part, "label")) for part in parts]
    except CellError as error:
        raise DataError(f"{where}: {error}") from None
    return tuple(dict.fromkeys(label for label in labels if label))


def sniff_delimiter(cells: Iterable[Any]) -> str:
    """The delimiter that the most cells have, of ``;``, ``|`` and ``,``; the first where none has any."""
    counts = Counter(sign for cell in cells if isinstance(cell, str) for sign in DELIMITERS if sign in cell)
    return max(DELIMITERS, key=lambda sign: counts[sign])


def warn_of_delimited(labels: Iterable[str]) -> None:
    """Warn where labels look like several in one, "A;B": A and B are labels, too, or many share parts."""
    known = set(labels)
    for sign in DELIMITERS:
        split = {label: [part.strip() for part in label.split(sign)] for label in known if sign in label}
        alone = [label for label, parts in split.items() if set(parts) <= known]
        uses = Counter(part for parts in split.values() for part in set(parts))
        shared = len(split) >= 4 and 2 * len(uses) <= sum(uses.values())
        if alone or shared:
            example = min(alone or split)
            warnings.warn(
                f"the label {quote(example)} looks like several labels with {sign!r} between them and is "
                "trained as one; --multi gives a text several labels",
                stacklevel=5,
            )
            return
