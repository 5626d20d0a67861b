"""How words are spelled: their characters, their casing, their beginnings and endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from elman.errors import ModelError
from elman.text.json_io import read_json, write_json
from elman.text.vocab import SPECIALS, Vocab

MAX_WORD_CHARS = 32  # characters of a word that are seen: of a longer one its beginning and its end
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
            tuple(_build_affixes(word[:n] for word in types) for n in lengths),
            tuple(_build_affixes(word[-n:] for word in types) for n in lengths),
        )

    def extend(self, words: Iterable[str]) -> Spelling:
        """The same with the characters and affixes that further words have; ids follow."""
        learnt = Spelling.learn(words, affixes=len(self.prefixes))
        return Spelling(
            _union(self.alphabet, learnt.alphabet),
            tuple(map(_union, self.prefixes, learnt.prefixes)),
            tuple(map(_union, self.suffixes, learnt.suffixes)),
        )

    def characters(self, words: Sequence[str]) -> Ids:
        """The characters of each word (N, C), filled up with 0."""
        seen = [*map(shorten_word, words)]
        ids = np.zeros((len(words), max(map(len, seen), default=0)), np.int64)
        for row, word in zip(ids, seen, strict=True):
            row[: len(word)] = self.alphabet.encode(word)
        return ids

    def features(self, words: Sequence[str]) -> Ids:
        """Of each word its prefixes, its suffixes and its casing (N, 2 · affixes + 1)."""
        columns = [known.encode(word[:n] for word in words) for n, known in enumerate(self.prefixes, start=1)]
        columns += [known.encode(word[-n:] for word in words) for n, known in enumerate(self.suffixes, start=1)]
        columns.append([casing(word) for word in words])
        return np.array(columns, np.int64).T.reshape(len(words), len(columns))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each feature has."""
        return (*map(len, self.prefixes), *map(len, self.suffixes), CASINGS)

    def save(self, path: Path) -> None:
        """Write all vocabularies as JSON."""
        prefixes, suffixes = ([v.items for v in side] for side in (self.prefixes, self.suffixes))
        write_json(path, {"alphabet": self.alphabet.items, "prefixes": prefixes, "suffixes": suffixes})

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
        sides = (tuple(Vocab.parse(items, path) for items in side) for side in (prefixes, suffixes))
        return cls(Vocab.parse(stored["alphabet"], path), *sides)


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


def _union(known: Vocab, further: Vocab) -> Vocab:
    old = {*known.items}
    return known.extend(item for item in further.items if item not in old)


def _build_affixes(affixes: Iterable[str]) -> Vocab:
    counts = Counter(affixes)
    return Vocab((*SPECIALS, *sorted(a for a in counts if counts[a] > 1 and a not in SPECIALS)))


def shorten_word(word: str) -> str:
    """The characters of a word that are seen."""
    half = MAX_WORD_CHARS // 2
    return word if len(word) <= MAX_WORD_CHARS else word[:half] + word[-half:]
