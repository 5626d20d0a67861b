"""Cutting text into tokens, and putting tokens together again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from elman.text.words import split_words


class Cut(NamedTuple):
    """Two functions, the second as near as can be to an inverse of the first."""

    split: Callable[[str], list[str]]
    join: Callable[[Sequence[str]], str]


def _split_bytes(text: str) -> list[str]:
    return [BYTES[byte] for byte in text.encode("utf-8", "replace")]


def _join_bytes(tokens: Sequence[str]) -> str:
    return b"".join(_BYTE.get(token, _UNKNOWN) for token in tokens).decode("utf-8", "replace")


BYTES = tuple(f"{byte:02x}" for byte in range(256))
_BYTE = {token: bytes([byte]) for byte, token in enumerate(BYTES)}
_UNKNOWN = "\ufffd".encode()
_DIGIT = re.compile(r"\d")

CUTS = {
    "words": Cut(split_words, " ".join),
    "whitespace": Cut(str.split, " ".join),
    "chars": Cut(list, "".join),
    "bytes": Cut(_split_bytes, _join_bytes),
}

WORDS = ("words", "whitespace")  # the kinds whose tokens are words as they are written


@dataclass(frozen=True)
class Tokenizer:
    """One way to cut text (a key of `CUTS`), after folding upper case or digits where asked.

    Characters and bytes join to the very text, whitespace tokens to the text with single blanks;
    words forget where blanks were. Bytes are two hexadecimal digits; broken UTF-8 joins to U+FFFD.
    """

    kind: str = "words"
    lower: bool = False
    digits: bool = False

    def split(self, text: str) -> list[str]:
        """The tokens of a text."""
        return self.cut(self.fold(text))

    def cut(self, text: str) -> list[str]:
        """The tokens of a text as it stands."""
        return CUTS[self.kind].split(text)

    def join(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""
        return CUTS[self.kind].join(tokens)

    def fold(self, text: str) -> str:
        """Lower case if `lower`, and 0 for every digit if `digits`."""
        if self.lower:
            text = text.lower()
        return _DIGIT.sub("0", text) if self.digits else text
