"""Words and punctuation of any script, with nothing but Unicode's own classes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_JOINERS = "\u00ad\u200c\u200d"  # soft hyphen, zero-width non-joiner and joiner
_EMOJI_PARTS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"  # skin tones, tags of flags
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
# Where Unicode has combining marks; the rest of the code space has none.
_MARKED = (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))


def split_words(text: str) -> list[str]:
    """Words and single symbols, in order; together they are the text without its blanks.

    Letters, digits and combining marks stay together, over inner apostrophes and hyphens too
    (don't, well-known), digits over `.,:` (3.14, 10:30). Emoji, flags and their modifiers are one
    token. Han characters, written without blanks, are a token each.
    """
    words, han = _patterns()
    return words.findall(han.sub(r" \g<0> ", text))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    marks = "".join(_mark_ranges())
    letter, extend = rf"[\w{marks}{_JOINERS}]", rf"[{marks}{_EMOJI_PARTS}]"
    word = rf"{letter}+(?:(?:['’‐‑-]|(?<=\d)[.,:](?=\d)){letter}+)*"
    symbol = rf"(?:{_FLAG}|\S){extend}*(?:\u200d\S{extend}*)*"
    return re.compile(f"{word}|{symbol}"), re.compile(f"{_HAN}[{marks}]*")


def _mark_ranges() -> Iterator[str]:
    """The combining marks as ranges of a character class; single ones would make it slow."""
    first = last = 0
    for code in _MARKED:
        if not unicodedata.category(chr(code)).startswith("M"):
            continue
        if code != last + 1:
            if first:
                yield f"{chr(first)}-{chr(last)}"
            first = code
        last = code
    yield f"{chr(first)}-{chr(last)}"
