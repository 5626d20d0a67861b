"""Running text as a language model reads it: its options, its ids, where its lines end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elman.errors import ConfigError, DataError
from elman.tasks.settings import Files, Tokens, positive
from elman.text.codec import Codec, TokenCodec
from elman.text.corpus import Counts
from elman.text.encoding import encoder

BLOCK = 2**20  # characters encoded, or reported, at a time
_STREAMS = ("chars", "bytes")  # the kinds of tokens whose lines end in a newline, not in </s>


@dataclass(frozen=True)
class Data(Files):
    """Where the text is, and how it is cut into streams and windows."""

    batch: int = 0  # streams side by side; 0: up to 32, but so few that an epoch has 100 windows
    steps: int = 70  # tokens of a window: how far back a gradient reaches
    spread: float = 0.0  # standard deviation of windows of random length; 0: all have ``steps``
    rotated: bool = False  # begin elsewhere in the text each epoch
    valid_batch: int = 16  # the most streams in which validation text is read during training
    cache: str = ""  # folder for encoded training text; "": elman in the user's cache folder

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("steps", "valid_batch"):
            positive(name, getattr(self, name))
        if self.spread < 0:
            raise ConfigError(f"spread is {self.spread}; it must be at least 0")

    @property
    def folder(self) -> Path:
        """Where encoded text is kept."""
        if self.cache:
            return Path(os.path.expandvars(self.cache)).expanduser()
        home = os.environ.get("XDG_CACHE_HOME")
        return (Path(home) if home else Path.home() / ".cache") / "elman"


@dataclass(frozen=True, eq=False)
class Encoded:
    """Running text as numbers."""

    ids: NDArray[Any]
    characters: int | None  # ends of lines included; None: not known of a part
    rows: int = 1  # streams in which it is evaluated

    def __len__(self) -> int:
        return len(self.ids)


def learned(texts: Iterable[str], tokens: Tokens) -> Codec:
    """The codec that knows the tokens of some lines."""
    return tokens.learn(_units(texts, tokens.kind))


def encoded(texts: Iterable[str], codec: Codec) -> Encoded:
    """Lines as ids, in memory."""
    encode, counts = encoder(codec, newlines=in_newlines(codec)), Counts()
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
    return Encoded(np.concatenate(parts), counts.characters)


def in_newlines(codec: Codec) -> bool:
    """Whether a line ends in the token of a newline: among characters and bytes it is one of them."""
    return isinstance(codec, TokenCodec) and codec.tokenizer.kind in _STREAMS


def _units(texts: Iterable[str], kind: str) -> Iterator[str]:
    return (f"{text}\n" if kind in _STREAMS else text for text in texts)
