"""Options that all tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from elman.errors import ConfigError, check_option
from elman.text.tokenizer import Tokenizer, build_tokenizer


@dataclass(frozen=True)
class DataConfig:
    """Where the data is. A path may begin with a variable: ``$ELMAN_DATA/trec/TREC.train``."""

    train: str | tuple[str, ...] = ""
    valid: str | tuple[str, ...] = ""  # chooses the best weights; "": a part of train is held out
    test: str | tuple[str, ...] = ""  # scored once, at the end
    holdout: float = 0.1  # the part of train that is held out
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        share("holdout", self.holdout)


@dataclass(frozen=True)
class ExamplesConfig(DataConfig):
    """Where examples are, and how many make a batch."""

    batch_tokens: int = 0  # padding included; 0: a share of the data, between 128 and 2,048

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("batch_tokens", self.batch_tokens, self.batch_tokens >= 0, "at least 0")


@dataclass(frozen=True)
class TokenizerConfig:
    """How text is cut, and which pieces get an id of their own."""

    kind: Literal["words", "whitespace", "chars", "bytes", "bpe", "unigram"] = "words"
    lower: bool = False
    digits: bool = False  # every digit becomes 0
    min_count: int = 1  # rarer tokens are unknown
    size: int = 0  # the most entries; 0: no limit (subwords: 8,000)

    def __post_init__(self) -> None:
        positive("min_count", self.min_count)
        check_option("size", self.size, self.size >= 0, "at least 0")

    def learn(self, texts: Iterable[str]) -> Tokenizer:
        """The tokenizer that knows the tokens of these texts."""
        return build_tokenizer(texts, **asdict(self) | {"size": self.size or None})


def share(name: str, value: float) -> None:
    """Refuse what is no probability below 1."""
    check_option(name, value, 0 <= value < 1, "at least 0 and below 1")


def positive(name: str, value: int) -> None:
    check_option(name, value, value >= 1, "at least 1")


def require_layers(residual: bool, layers: int) -> None:
    """Refuse residual connections where there is no layer above the first."""
    if residual and layers < 2:
        raise ConfigError("residual is true, but layers is 1; only layers above the first are residual")
