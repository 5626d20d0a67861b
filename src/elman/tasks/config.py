"""Options that all tasks share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from elman.errors import ConfigError
from elman.ranges import FoldCount, NonNegativeInt, PositiveInt, Rate, Share, check_ranges
from elman.text.tokenizer import Tokenizer, build_tokenizer


@dataclass(frozen=True)
class DataConfig:
    """Where the data is. A path may begin with a variable: ``$ELMAN_DATA/trec/TREC.train``."""

    train: str | tuple[str, ...] = ""
    valid: str | tuple[str, ...] = ""  # chooses the best weights; "": a part of train is held out
    test: str | tuple[str, ...] = ""  # scored once, at the end
    holdout: Rate = 0.1  # the part of train that is held out
    share: Share = 1.0  # of what is left, the part that is trained on
    folds: FoldCount = 0  # cross-validation: of so many parts of train one is the test data; 0: none
    fold: PositiveInt = 1  # which of them
    encoding: str = "utf-8"
    skip_bad: bool = False  # leave out rows that cannot be read or have an empty cell

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.folds == 1:
            raise ConfigError("folds is 1, which leaves nothing to train on; take 2 or more, or 0 for none")
        if self.fold > max(1, self.folds):
            raise ConfigError(f"fold is {self.fold}, but folds is {self.folds}")
        if self.folds and self.test:
            raise ConfigError("test is given, but with folds a part of train is the test data: leave it out")


@dataclass(frozen=True)
class ExamplesConfig(DataConfig):
    """Where examples are, and how many make a batch."""

    batch_tokens: NonNegativeInt = 0  # padding included; 0: a share of the data, between 128 and 2,048


@dataclass(frozen=True)
class UnlabelledConfig:
    """Text without labels, for tasks whose encoder can be trained on it first."""

    unlabelled: str | tuple[str, ...] = ""  # lines of text, or a table with a text column; "": none


@dataclass(frozen=True)
class TokenizerConfig:
    """How text is cut, and which pieces get an id of their own."""

    kind: Literal["words", "whitespace", "chars", "chars+features", "bytes", "bpe", "unigram"] = "words"
    lower: bool = False
    digits: bool = False  # every digit becomes 0
    min_count: PositiveInt = 1  # rarer tokens are unknown
    size: NonNegativeInt = 0  # the most entries; 0: no limit (subwords: 8,000)

    def __post_init__(self) -> None:
        check_ranges(self)

    def learn(self, texts: Iterable[str]) -> Tokenizer:
        """The tokenizer that knows the tokens of these texts."""
        return build_tokenizer(texts, **asdict(self) | {"size": self.size or None})


def check_residual(config: Any) -> None:
    """Refuse residual connections where there is no layer above the first."""
    if config.residual and config.layers < 2:
        raise ConfigError("residual is true, but layers is 1; only layers above the first are residual")
