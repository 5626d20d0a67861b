"""Running text as a language model reads it: its options, its ids, where its lines end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elman.errors import ConfigError, DataError
from elman.ranges import OptionalSize, Range, Size
from elman.tasks.config import DataConfig, TokenizerConfig
from elman.text.corpus_cache import TextCounts, split_blocks
from elman.text.line_encoder import make_encoder
from elman.text.tables import TableFormat
from elman.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class LanguageModelDataConfig(DataConfig):
    """Where the text is, and how it is cut into streams and windows."""

    format: Literal["", "lines", TableFormat] = ""  # "": by the ending, lines where it is none of a table
    text: str = "text"  # column of a table: a name, or a number from 1
    streams: OptionalSize = 0  # rows read side by side; 0: up to 32, but so few that an epoch has 100 windows
    bptt: Size = 70  # tokens of a window: how far back a gradient reaches
    bptt_std: Annotated[float, Range(0, 1_000_000)] = 0.0  # of windows of random length; 0: all have ``bptt``
    random_start: bool = False  # begin elsewhere in the text each epoch
    eval_streams: Size = 16  # the most streams in which validation text is read during training
    eval_tokens: OptionalSize = 0  # of it that evaluations during training read, from its beginning; 0: all
    cache: str = ""  # folder for encoded training text; "": elman in the user's cache folder

    @property
    def folder(self) -> Path:
        if self.cache:
            return Path(os.path.expandvars(self.cache)).expanduser()
        home = os.environ.get("XDG_CACHE_HOME")
        return (Path(home) if home else Path.home() / ".cache") / "elman"


@dataclass(frozen=True, eq=False)
class LanguageModelDataset:
    """Running text as numbers."""

    ids: NDArray[Any]
    characters: int | None  # ends of lines included; None: not known of a part
    rows: int = 1  # streams in which it is evaluated
    head: int = 0  # tokens of its beginning that evaluations during training read; 0: all

    def __len__(self) -> int:
        return len(self.ids)

    def take_head(self) -> LanguageModelDataset:
        """What evaluations during training read."""
        if not 0 < self.head < len(self):
            return self
        return replace(self, ids=self.ids[: self.head], characters=None)


def learn_tokenizer(texts: Iterable[str], tokens: TokenizerConfig) -> Tokenizer:
    """The tokenizer that knows the tokens of some lines."""
    if tokens.kind == "chars+features":
        raise ConfigError("running text has no features: set tokens.kind to chars")
    end = "\n" if tokens.kind in ("chars", "bytes") else ""  # of other kinds no token ends a line but </s>
    return tokens.learn(text + end for text in texts)


def count_tokens(texts: Iterable[str], tokenizer: Tokenizer) -> Counter[str]:
    """How often each token occurs in some lines."""
    return Counter(token for text in texts for token in tokenizer.tokens(text))


def encode_lines(texts: Iterable[str], tokenizer: Tokenizer) -> LanguageModelDataset:
    """Lines as ids, in memory."""
    encode, counts = make_encoder(tokenizer, newlines=ends_lines_with_newline(tokenizer)), TextCounts()
    parts: list[NDArray[Any]] = []
    for block in split_blocks(texts):
        parts.append(encode(block))
        counts = counts.plus(len(parts[-1]), block)
    if not counts.tokens:
        raise DataError("there is no text")
    return LanguageModelDataset(np.concatenate(parts), counts.characters)


def ends_lines_with_newline(tokenizer: Tokenizer) -> bool:
    """Whether a line ends in the token of a newline: among characters and bytes it is one of them."""
    return tokenizer.level in ("char", "byte")
