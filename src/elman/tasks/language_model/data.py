"""Running text as a language model reads it: its options, its ids, where its lines end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elman.errors import DataError, check_option
from elman.tasks.config import DataConfig, TokenizerConfig, positive
from elman.text.corpus_cache import TextCounts
from elman.text.line_encoder import make_encoder
from elman.text.tokenizer import Tokenizer

BLOCK = 2**20  # characters encoded, or reported, at a time


@dataclass(frozen=True)
class LanguageModelDataConfig(DataConfig):
    """Where the text is, and how it is cut into streams and windows."""

    streams: int = 0  # rows read side by side; 0: up to 32, but so few that an epoch has 100 windows
    bptt: int = 70  # tokens of a window: how far back a gradient reaches
    bptt_std: float = 0.0  # standard deviation of windows of random length; 0: all have ``bptt``
    random_start: bool = False  # begin elsewhere in the text each epoch
    eval_streams: int = 16  # the most streams in which validation text is read during training
    cache: str = ""  # folder for encoded training text; "": elman in the user's cache folder

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("bptt", "eval_streams"):
            positive(name, getattr(self, name))
        for name in ("streams", "bptt_std"):
            check_option(name, getattr(self, name), getattr(self, name) >= 0, "at least 0")

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

    def __len__(self) -> int:
        return len(self.ids)


def learn_tokenizer(texts: Iterable[str], tokens: TokenizerConfig) -> Tokenizer:
    """The tokenizer that knows the tokens of some lines."""
    end = "\n" if tokens.kind in ("chars", "bytes") else ""  # of other kinds no token ends a line but </s>
    return tokens.learn(text + end for text in texts)


def encode_lines(texts: Iterable[str], tokenizer: Tokenizer) -> LanguageModelDataset:
    """Lines as ids, in memory."""
    encode, counts = (make_encoder(tokenizer, newlines=ends_lines_with_newline(tokenizer)), TextCounts())
    parts: list[NDArray[Any]] = []
    block: list[str] = []
    size = 0
    for text in texts:
        block.append(text)
        size += len(text) + 1
        if size >= BLOCK:
            parts.append(encode(block))
            counts, block, size = counts.plus(len(parts[-1]), block), [], 0
    if block:
        parts.append(encode(block))
        counts = counts.plus(len(parts[-1]), block)
    if not counts.tokens:
        raise DataError("there is no text")
    return LanguageModelDataset(np.concatenate(parts), counts.characters)


def ends_lines_with_newline(tokenizer: Tokenizer) -> bool:
    """Whether a line ends in the token of a newline: among characters and bytes it is one of them."""
    return tokenizer.level in ("char", "byte")
