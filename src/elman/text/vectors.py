"""Pretrained word vectors: word2vec (text and binary), GloVe, fastText `.vec`, each also packed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elman.errors import ConfigError
from elman.number_format import format_percent
from elman.text.byte_source import Source, display_name, file_extension, open_bytes
from elman.text.vector_files import binary_rows, text_rows
from elman.text.vocab import SPECIALS

FORMATS = ("text", "binary")


@dataclass(frozen=True)
class Coverage:
    """The share of types and of running tokens that have a vector, in percent."""

    types: float
    tokens: float

    def __str__(self) -> str:
        return f"{format_percent(self.types / 100)} of types, {format_percent(self.tokens / 100)} of tokens"


@dataclass(frozen=True)
class WordVectors:
    """A row for each entry of a vocabulary: `matrix` (V, D), zero where `found` (V,) is false."""

    matrix: npt.NDArray[np.float32]
    found: npt.NDArray[np.bool_]
    types: int  # entries that could have been found: all but the special ones
    further: tuple[str, ...] = ()  # other words of the file: the last rows

    def coverage(self, counts: npt.NDArray[np.int64]) -> Coverage:
        """What was found of the vocabulary, given how often each id occurs in the data, further ones too."""
        found = self.found[: len(self.found) - len(self.further)]
        return Coverage(
            types=100.0 * float(found.sum()) / max(self.types, 1),
            tokens=100.0 * float(counts[self.found].sum()) / max(float(counts.sum()), 1.0),
        )


def read_vectors(
    source: Source,
    items: Sequence[str],
    *,
    further: int = 0,
    also: Callable[[str], bool] = lambda word: True,
    format: str | None = None,
) -> WordVectors:
    """The vectors of `items` in a file, or of their lower-cased forms where it has only these.

    The first `further` other words of the file get a row too, where `also` says so. Memory is that of the
    result, whatever the size of the file. Special tokens are left to be learnt. Of a word that stands there
    twice the first vector is taken. `format` is "binary" for the ending `.bin`, else "text", with a header
    (word2vec, fastText) or without (GloVe).
    """
    format = format or ("binary" if file_extension(source) == ".bin" else "text")
    if format not in FORMATS:
        raise ConfigError(f"unknown vector format {format!r}; choose from {', '.join(FORMATS)}")
    exact = {item.encode("utf-8", "replace"): i for i, item in enumerate(items)}
    for special in SPECIALS:
        exact.pop(special.encode(), None)
    lowered = defaultdict(list)
    for word, i in exact.items():
        lowered[word.decode().lower().encode()].append(i)
    others = _Further(items, further, also)
    with open_bytes(source) as stream:
        read = binary_rows if format == "binary" else text_rows
        size, rows = read(stream, lambda w: w in exact or w in lowered or others.takes(w), display_name(source))
        matrix = np.zeros((len(items), size), np.float32)
        found, spelled = np.zeros(len(items), bool), np.zeros(len(items), bool)
        for word, vector in rows:
            here = exact.get(word)
            if here is not None and not spelled[here]:
                matrix[here], found[here], spelled[here] = vector, True, True
            for i in lowered.get(word, ()):
                if not found[i]:
                    matrix[i], found[i] = vector, True
            others.add(word, vector)
    matrix = np.concatenate([matrix, *others.rows.values()]) if others.rows else matrix
    found = np.concatenate([found, np.ones(len(others.rows), bool)])
    return WordVectors(matrix, found, len(exact), tuple(others.rows))


class _Further:
    """Rows of a file for words that no vocabulary asked for."""

    def __init__(self, items: Sequence[str], limit: int, also: Callable[[str], bool]) -> None:
        self.known, self.limit, self.also = set(items) | set(SPECIALS), limit, also
        self.rows: dict[str, npt.NDArray[np.float32]] = {}

    def takes(self, word: bytes) -> bool:
        if not word or len(self.rows) >= self.limit:
            return False
        try:
            text = word.decode()
        except UnicodeDecodeError:
            return False
        return text not in self.known and text not in self.rows and self.also(text)

    def add(self, word: bytes, vector: npt.NDArray[np.float32]) -> None:
        if self.takes(word):
            self.rows[word.decode()] = vector[None]
