"""Which of the tokens of a text is meant."""

from __future__ import annotations

from elman.errors import ConfigError


def place_of(word: int, count: int, of: str = "text") -> int:
    """The place of a word, counted from 1, among ``count``."""
    if not 1 <= word <= count:
        raise ConfigError(f"word {word} was asked for, but the {of} has {count}, counted from 1")
    return word - 1
