"""Options that all tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from elman.errors import ConfigError
from elman.text import codec
from elman.text.codec import Codec


@dataclass(frozen=True)
class Files:
    """Where the examples are. A path may begin with a variable: ``$ELMAN_DATA/trec/TREC.train``."""

    train: str | tuple[str, ...] = ""
    valid: str | tuple[str, ...] = ""  # chooses the best weights; "": a part of train is held out
    test: str | tuple[str, ...] = ""  # scored once, at the end
    holdout: float = 0.1  # the part of train that is held out
    encoding: str = "utf-8"
    batch: int = 0  # tokens, padding included; 0: a share of the data, between 128 and 2,048

    def __post_init__(self) -> None:
        share("holdout", self.holdout)
        if self.batch < 0:
            raise ConfigError(f"batch is {self.batch}; it must be at least 0")


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

    def learn(self, texts: Iterable[str]) -> Codec:
        """The codec that knows the tokens of these texts."""
        return codec.build(
            texts,
            kind=self.kind,
            lower=self.lower,
            digits=self.digits,
            min_count=self.min_count,
            size=self.size or None,
        )


def share(name: str, value: float) -> None:
    """Refuse what is no probability below 1."""
    if not 0 <= value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 0 and below 1")


def positive(name: str, value: int) -> None:
    if value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 1")
