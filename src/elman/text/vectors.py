"""Pretrained word vectors: word2vec (text and binary), GloVe, fastText `.vec`, each also packed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elman.errors import ConfigError
from elman.text.files import Source, ending, open_bytes, shown
from elman.text.vector_files import binary_rows, text_rows
from elman.text.vocab import SPECIALS

FORMATS = ("text", "binary")


@dataclass(frozen=True)
class Coverage:
    """The share of types and of running tokens that have a vector, in percent."""

    types: float
    tokens: float

    def __str__(self) -> str:
        return f"{self.types:.0f} % of types, {self.tokens:.0f} % of tokens"


@dataclass(frozen=True)
class Vectors:
    """A row for each entry of a vocabulary: `matrix` (V, D), zero where `found` (V,) is false."""

    matrix: npt.NDArray[np.float32]
    found: npt.NDArray[np.bool_]
    types: int  # entries that could have been found: all but the special ones

    def coverage(self, counts: npt.NDArray[np.int64]) -> Coverage:
        """What was found, given how often each id of the vocabulary occurs in the data."""
        tokens = counts.sum()
        return Coverage(
            types=100.0 * float(self.found.sum()) / max(self.types, 1),
            tokens=100.0 * float(counts[self.found].sum()) / max(float(tokens), 1.0),
        )


def read_vectors(source: Source, items: Sequence[str], *, format: str | None = None) -> Vectors:
    """The vectors of `items` in a file, or of their lower-cased forms where it has only these.

    Memory is that of the result, whatever the size of the file. Special tokens are left to be
    learnt. Of a word that stands there twice the first vector is taken. `format` is "binary" for
    the ending `.bin`, else "text", with a header (word2vec, fastText) or without (GloVe).
    """
    format = format or ("binary" if ending(source) == ".bin" else "text")
    if format not in FORMATS:
        raise ConfigError(f"unknown vector format {format!r}; choose from {', '.join(FORMATS)}")
    exact = {item.encode("utf-8", "replace"): i for i, item in enumerate(items)}
    for special in SPECIALS:
        exact.pop(special.encode(), None)
    lowered = defaultdict(list)
    for word, i in exact.items():
        lowered[word.decode().lower().encode()].append(i)
    with open_bytes(source) as stream:
        read = binary_rows if format == "binary" else text_rows
        size, rows = read(stream, exact.keys() | lowered.keys(), shown(source))
        matrix = np.zeros((len(items), size), np.float32)
        found, spelled = np.zeros(len(items), bool), np.zeros(len(items), bool)
        for word, vector in rows:
            here = exact.get(word)
            if here is not None and not spelled[here]:
                matrix[here], found[here], spelled[here] = vector, True, True
            for i in lowered.get(word, ()):
                if not found[i]:
                    matrix[i], found[i] = vector, True
    return Vectors(matrix, found, len(exact))
