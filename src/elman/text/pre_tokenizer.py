"""Text of any script split into tokens, by nothing but Unicode's own classes, and tokens joined again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

Level = Literal["word", "char", "byte", "subword"]

_JOINERS = "\u00ad\u200c\u200d"  # soft hyphen, zero-width non-joiner and joiner
_EMOJI_PARTS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # skin tones, tags of flags
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
# Where Unicode has combining marks; the rest of the code space has none.
_MARKED = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))


class SplitRule(NamedTuple):
    """Two functions, the second as near as can be to an inverse of the first, and what a token is."""

    split: Callable[[str], list[str]]
    join: Callable[[Sequence[str]], str]
    level: Level


def split_words(text: str) -> list[str]:
    """Words and single symbols, in order; together they are the text without its blanks.

    Letters, digits and combining marks stay together, over inner apostrophes and hyphens too
    (don't, well-known), digits over `.,:` (3.14, 10:30). Emoji, flags and their modifiers are one
    token. Han characters, written without blanks, are a token each.
    """
    words, han = _patterns()
    return words.findall(han.sub(r" \g<0> ", text))


def _split_bytes(text: str) -> list[str]:
    return [BYTES[byte] for byte in text.encode("utf-8", "replace")]


def _join_bytes(tokens: Sequence[str]) -> str:
    return b"".join(_BYTE.get(token, _UNKNOWN) for token in tokens).decode("utf-8", "replace")


def split_features(text: str) -> list[str]:
    """The characters of a text, and whole symbols for its last word, the features: ``walk V;PST``.

    Features stand behind the last blank, with ``;`` or ``|`` between them. A symbol begins with ``;``, so that
    it is no character. A text without a blank has no features.
    """
    parts = text.rsplit(None, 1)
    if len(parts) < 2:
        return list(text)
    word, features = parts
    return [*word.strip(), *(f";{symbol}" for symbol in _BETWEEN_FEATURES.split(features) if symbol)]


def _join_features(tokens: Sequence[str]) -> str:
    symbols = [token[1:] for token in tokens if is_symbol(token)]
    word = "".join(token for token in tokens if not is_symbol(token))
    return f"{word} {';'.join(symbols)}" if symbols else word


def is_symbol(token: str) -> bool:
    """Whether a token that ``split_features`` gave is a feature."""
    return len(token) > 1 and token.startswith(";")


BYTES = tuple(f"{byte:02x}" for byte in range(256))
_BYTE = {token: bytes([byte]) for byte, token in enumerate(BYTES)}
_UNKNOWN = "\ufffd".encode()
_DIGIT = re.compile(r"\d")
_BETWEEN_FEATURES = re.compile(r"[;|]")

SPLIT_RULES = {
    "words": SplitRule(split_words, " ".join, "word"),
    "whitespace": SplitRule(str.split, " ".join, "word"),
    "chars": SplitRule(list, "".join, "char"),
    "chars+features": SplitRule(split_features, _join_features, "char"),
    "bytes": SplitRule(_split_bytes, _join_bytes, "byte"),
}


@dataclass(frozen=True)
class PreTokenizer:
    """One way to split text (a key of `SPLIT_RULES`), after normalizing case or digits where asked.

    Characters and bytes join to the very text, whitespace tokens to the text with single blanks;
    words forget where blanks were; characters with features have ``;`` between those. Bytes are two
    hexadecimal digits; broken UTF-8 joins to U+FFFD.
    """

    kind: str = "words"
    lower: bool = False
    digits: bool = False

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text, normalized."""
        return self.split(self.normalize(text))

    def split(self, text: str) -> list[str]:
        """The tokens of a text as it stands."""
        return SPLIT_RULES[self.kind].split(text)

    def join(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""
        return SPLIT_RULES[self.kind].join(tokens)

    def normalize(self, text: str) -> str:
        """Lower case if `lower`, and 0 for every digit if `digits`."""
        if self.lower:
            text = text.lower()
        return _DIGIT.sub("0", text) if self.digits else text


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    codes = [code for code in _MARKED if unicodedata.category(chr(code)).startswith("M")]
    known = set(codes)
    firsts = (chr(code) for code in codes if code - 1 not in known)
    lasts = (chr(code) for code in codes if code + 1 not in known)
    # The combining marks as ranges of a character class; single ones would make it slow.
    marks = "".join(f"{first}-{last}" for first, last in zip(firsts, lasts, strict=True))
    letter, extend = rf"[\w{marks}{_JOINERS}]", rf"[{marks}{_EMOJI_PARTS}]"
    word = rf"{letter}+(?:(?:['’‐‑-]|(?<=\d)[.,:](?=\d)){letter}+)*"
    symbol = rf"(?:{_FLAG}|\S){extend}*(?:\u200d\S{extend}*)*"
    return re.compile(f"{word}|{symbol}"), re.compile(f"{_HAN}[{marks}]*")
