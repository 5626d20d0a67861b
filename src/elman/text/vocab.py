"""Strings and the numbers a network knows them by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from elman.errors import ConfigError, DataError, ModelError, quote, quote_list
from elman.text.json_io import distinct_strings, read_json, write_json

SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
PAD, UNK, BOS, EOS = range(len(SPECIALS))


@dataclass(frozen=True)
class Vocab:
    """The tokens a model knows, by id; the first four are `SPECIALS`."""

    items: tuple[str, ...]

    @classmethod
    def build(cls, tokens: Iterable[str], *, min_count: int = 1, size: int | None = None) -> Vocab:
        """At most `size` tokens, specials included, seen `min_count` times or more; the most frequent first."""
        if size is not None and size <= len(SPECIALS):
            raise ConfigError(f"a vocabulary of size {size} holds its four special tokens at most")
        counts = Counter(tokens)
        known = [t for t in _rank(counts) if counts[t] >= min_count and t not in SPECIALS]
        if not known:
            raise DataError(f"no token occurs at least {min_count} times, so there is no vocabulary")
        return cls((*SPECIALS, *known)[:size])

    @classmethod
    def parse(cls, stored: Any, path: Path) -> Vocab:
        """The vocabulary of a list that was stored at ``path``."""
        items = distinct_strings(stored, path)
        if items[: len(SPECIALS)] != SPECIALS:
            raise ModelError(f"{path}: the file is damaged, its tokens must begin with the special ones")
        return cls(items)

    def extend(self, tokens: Iterable[str]) -> Vocab:
        """The same with further tokens, whose ids follow."""
        return Vocab((*self.items, *tokens))

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """Ids; a token that is unknown, or spelled like a special one, is `UNK`."""
        known = self._index
        return [known.get(token, UNK) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens of the ids."""
        return [self.items[i] for i in ids]

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def _index(self) -> dict[str, int]:
        # Without the specials: a text must not be able to pad itself or to end itself.
        return {token: i for i, token in enumerate(self.items) if i >= len(SPECIALS)}


@dataclass(frozen=True)
class Labels:
    """The answers a model can give, by id; nothing is added to what the data has."""

    items: tuple[str, ...]

    @classmethod
    def build(cls, labels: Iterable[str]) -> Labels:
        """All labels, the most frequent first, equals by their text."""
        ranked = _rank(Counter(labels))
        if not ranked:
            raise DataError("there are no labels in the data")
        return cls(tuple(ranked))

    def extend(self, labels: Iterable[str]) -> Labels:
        """The same with further labels, whose ids follow."""
        return Labels((*self.items, *labels))

    def id(self, label: str, where: str = "") -> int:
        """The id of a label; `where` (file:line) begins the message if there is no such label."""
        try:
            return self._index[label]
        except KeyError:
            place = f"{where}: " if where else ""
            known = quote_list(self.items)
            raise DataError(f"{place}unknown label {quote(label)}; known are {known}") from None

    def save(self, path: Path) -> None:
        """Write the labels as a JSON list."""
        write_json(path, self.items)

    @classmethod
    def load(cls, path: Path) -> Labels:
        """The labels that `save` wrote."""
        items = distinct_strings(read_json(path), path)
        if not items:
            raise ModelError(f"{path}: the file is damaged, it has no labels")
        return cls(items)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.items)}


def find_new(known: Iterable[str], counts: Mapping[str, int], *, min_count: int = 1) -> tuple[str, ...]:
    """What was counted so often and is not known yet, the most frequent first."""
    old = {*known}
    return tuple(item for item in _rank(counts) if counts[item] >= min_count and item not in old)


def _rank(counts: Mapping[str, int]) -> list[str]:
    return sorted(counts, key=lambda item: (-counts[item], item))
