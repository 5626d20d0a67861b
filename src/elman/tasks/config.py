"""Options that all tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from elman.errors import ConfigError, check_option
from elman.text.tokenizer import Tokenizer, build_tokenizer


@dataclass(frozen=True)
class DataConfig:
    """Where the data is. A path may begin with a variable: ``$ELMAN_DATA/trec/TREC.train``."""

    train: str | tuple[str, ...] = ""
    valid: str | tuple[str, ...] = ""  # chooses the best weights; "": a part of train is held out
    test: str | tuple[str, ...] = ""  # scored once, at the end
    holdout: float = 0.1  # the part of train that is held out
    share: float = 1.0  # of what is left, the part that is trained on
    encoding: str = "utf-8"
    skip_bad: bool = False  # leave out rows that cannot be read or have an empty cell

    def __post_init__(self) -> None:
        check_shares(self, "holdout")
        check_option("share", self.share, 0 < self.share <= 1, "above 0 and at most 1")


@dataclass(frozen=True)
class ExamplesConfig(DataConfig):
    """Where examples are, and how many make a batch."""

    batch_tokens: int = 0  # padding included; 0: a share of the data, between 128 and 2,048

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(0, self, "batch_tokens")


@dataclass(frozen=True)
class TokenizerConfig:
    """How text is cut, and which pieces get an id of their own."""

    kind: Literal["words", "whitespace", "chars", "bytes", "bpe", "unigram"] = "words"
    lower: bool = False
    digits: bool = False  # every digit becomes 0
    min_count: int = 1  # rarer tokens are unknown
    size: int = 0  # the most entries; 0: no limit (subwords: 8,000)

    def __post_init__(self) -> None:
        check_least(1, self, "min_count")
        check_least(0, self, "size")

    def learn(self, texts: Iterable[str]) -> Tokenizer:
        """The tokenizer that knows the tokens of these texts."""
        return build_tokenizer(texts, **asdict(self) | {"size": self.size or None})


def check_shares(config: Any, *names: str) -> None:
    """Refuse options that are no probability below 1; None is another option's."""
    for name in names:
        value = getattr(config, name)
        check_option(name, value, value is None or 0 <= value < 1, "at least 0 and below 1")


def check_least(least: int, config: Any, *names: str) -> None:
    """Refuse options below ``least``."""
    for name in names:
        check_option(name, getattr(config, name), getattr(config, name) >= least, f"at least {least}")


def check_residual(config: Any) -> None:
    """Refuse residual connections where there is no layer above the first."""
    if config.residual and config.layers < 2:
        raise ConfigError("residual is true, but layers is 1; only layers above the first are residual")
