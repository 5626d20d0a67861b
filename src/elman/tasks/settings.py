"""Options that all tasks share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elman.errors import ConfigError


@dataclass(frozen=True)
class Tokens:
    """How text is cut, and which pieces get an id of their own."""

    kind: Literal["words", "whitespace", "chars", "bytes", "bpe", "unigram"] = "words"
    lower: bool = False
    digits: bool = False  # every digit becomes 0
    min_count: int = 1  # rarer tokens are unknown
    size: int = 0  # the most entries; 0: no limit (subwords: 8,000)

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise ConfigError(f"min_count is {self.min_count}; it must be at least 1")
        if self.size < 0:
            raise ConfigError(f"size is {self.size}; it must be at least 0")


def share(name: str, value: float) -> None:
    """Refuse what is no probability below 1."""
    if not 0 <= value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 0 and below 1")


def positive(name: str, value: int) -> None:
    if value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 1")
