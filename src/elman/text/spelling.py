"""How words are spelled: their characters, their casing, their beginnings and endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elman.errors import ModelError
from elman.text.stored import distinct_strings, read_json, write_json
from elman.text.vocab import SPECIALS, Vocab

LONGEST = 32  # characters of a word that are seen: of a longer one its beginning and its end
CASINGS = 9  # padding, and what `casing` tells apart

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spelling:
    """The characters that are known, and the affixes: of one letter, of two, …; stored as JSON."""

    alphabet: Vocab
    prefixes: tuple[Vocab, ...] = ()
    suffixes: tuple[Vocab, ...] = ()

    @classmethod
    def learn(cls, words: Iterable[str], *, affixes: int = 0) -> Spelling:
        """The characters of words, and the affixes of up to ``affixes`` letters that two words share."""
        types = sorted(set(words))
        lengths = range(1, affixes + 1)
        return cls(
            Vocab((*SPECIALS, *sorted({character for word in types for character in word}))),
            tuple(_shared(word[:n] for word in types) for n in lengths),
            tuple(_shared(word[-n:] for word in types) for n in lengths),
        )

    def characters(self, words: Sequence[str]) -> Ids:
        """The characters of each word (N, C), filled up with 0."""
        seen = [_seen(word) for word in words]
        ids = np.zeros((len(words), max(map(len, seen), default=0)), np.int64)
        for row, word in zip(ids, seen, strict=True):
            row[: len(word)] = self.alphabet.encode(word)
        return ids

    def features(self, words: Sequence[str]) -> Ids:
        """Of each word its prefixes, its suffixes and its casing (N, 2 · affixes + 1)."""
        columns = []
        for n, known in enumerate(self.prefixes, start=1):
            columns.append(known.encode(word[:n] for word in words))
        for n, known in enumerate(self.suffixes, start=1):
            columns.append(known.encode(word[-n:] for word in words))
        columns.append([casing(word) for word in words])
        return np.array(columns, np.int64).T.reshape(len(words), len(columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each feature has."""
        return (*map(len, self.prefixes), *map(len, self.suffixes), CASINGS)

    def save(self, path: Path) -> None:
        """Write all vocabularies as JSON."""
        parts = {
            "alphabet": self.alphabet.items,
            "prefixes": [v.items for v in self.prefixes],
            "suffixes": [v.items for v in self.suffixes],
        }
        write_json(path, parts)

    @classmethod
    def load(cls, path: Path) -> Spelling:
        """The spelling that ``save`` wrote."""
        stored = read_json(path)
        names = {"alphabet", "prefixes", "suffixes"}
        if not isinstance(stored, dict) or stored.keys() != names:
            raise ModelError(f"{path}: the file is damaged, expected {', '.join(sorted(names))}")
        prefixes, suffixes = stored["prefixes"], stored["suffixes"]
        if not isinstance(prefixes, list) or not isinstance(suffixes, list):
            raise ModelError(f"{path}: the file is damaged, affixes are lists of lists")
        return cls(
            _known(stored["alphabet"], path),
            tuple(_known(items, path) for items in prefixes),
            tuple(_known(items, path) for items in suffixes),
        )


def casing(word: str) -> int:
    """1 lower, 2 UPPER, 3 Title, 4 miXed, 5 digits alone, 6 digits and more, 7 letters without case, 8 none."""
    if any(character.isdigit() for character in word):
        return 5 if word.isdigit() else 6
    if not any(character.isalpha() for character in word):
        return 8
    if word.islower():
        return 1
    if word.isupper():
        return 3 if len(word) == 1 else 2
    if word.lower() == word.upper():
        return 7
    return 3 if word.istitle() or word == word.capitalize() else 4  # O'Neil, Don't; iPhone


def _seen(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST // 2] + word[-LONGEST // 2 :]


def _shared(affixes: Iterable[str]) -> Vocab:
    counts = Counter(affixes)
    return Vocab((*SPECIALS, *sorted(a for a in counts if counts[a] > 1 and a not in SPECIALS)))


def _known(items: Any, path: Path) -> Vocab:
    known = distinct_strings(items, path)
    if known[: len(SPECIALS)] != SPECIALS:
        raise ModelError(
            f"{path}: the file is damaged, its entries must begin with the special ones"
        )
    return Vocab(known)
