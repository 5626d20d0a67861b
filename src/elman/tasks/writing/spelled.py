"""What each token of a codec spells, as bytes, and which tokens can follow what was typed."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from elman.text.codec import Codec, TokenCodec
from elman.text.tokenizers import BYTES, WORDS
from elman.text.vocab import SPECIALS


@dataclass(frozen=True)
class Spelled:
    """The bytes of each token by id; those of the special ones are empty."""

    tokens: tuple[bytes, ...]

    def __getitem__(self, i: int) -> bytes:
        return self.tokens[i]

    def text(self, ids: Sequence[int]) -> bytes:
        """What the ids spell, one after the other."""
        return b"".join(map(self.tokens.__getitem__, ids))

    def agreeing(self, typed: bytes) -> list[int]:
        """The tokens that are a beginning of what was typed, or begin with all of it."""
        known = self._index
        shorter = [i for n in range(1, len(typed)) for i in known.get(typed[:n], ())]
        return shorter + self.beginning(typed)

    def beginning(self, text: bytes) -> list[int]:
        """The tokens that begin with a text."""
        spellings, ids = self._sorted
        first = bisect_left(spellings, text)
        # Up to the first that comes after all that begin so: no byte of UTF-8 is 255, bytes alone may be.
        last = bisect_left(spellings, text + b"\xff" * 256, lo=first)
        return ids[first:last]

    @cached_property
    def enders(self) -> list[int]:
        """The tokens that no word goes on with."""
        texts = enumerate(decoded(token)[0] for token in self.tokens)
        return [i for i, text in texts if text and not in_word(text[0])]

    @cached_property
    def _index(self) -> dict[bytes, list[int]]:
        index: dict[bytes, list[int]] = {}
        for i, token in enumerate(self.tokens):
            if token:
                index.setdefault(token, []).append(i)
        return index

    @cached_property
    def _sorted(self) -> tuple[list[bytes], list[int]]:
        pairs = sorted((token, i) for i, token in enumerate(self.tokens) if token)
        return [token for token, _ in pairs], [i for _, i in pairs]


def kind(codec: Codec) -> str:
    """words, whitespace, chars, bytes, or subwords."""
    return codec.tokenizer.kind if isinstance(codec, TokenCodec) else "subwords"


def in_words(codec: Codec) -> bool:
    """Whether the tokens are words, which blanks keep apart."""
    return kind(codec) in WORDS


def spelled(codec: Codec) -> Spelled:
    """The spelling of every token."""
    return _spelled(kind(codec), codec.items)


@lru_cache(maxsize=8)
def _spelled(kind: str, items: tuple[str, ...]) -> Spelled:
    ordinary = items[len(SPECIALS) :]
    if kind == "bytes":
        pieces = [bytes([BYTES.index(item)]) for item in ordinary]
    elif kind == "subwords":
        table = _byte_of()
        pieces = [bytes(map(table.__getitem__, item)) for item in ordinary]
    else:
        pieces = [item.encode("utf-8", "replace") for item in ordinary]
    return Spelled((*[b""] * len(SPECIALS), *pieces))


def readable(codec: Codec, i: int) -> str:
    """A token for people: as it is spelled, special ones by their name."""
    piece = spelled(codec)[i]
    return piece.decode("utf-8", "backslashreplace") if piece else codec.items[i]


def shown(codec: Codec, text: str, end: int) -> list[str]:
    """The tokens of a text as it was written, known or not, each line's end among them."""
    last = readable(codec, end)
    tokens: list[str] = []
    for line in text.split("\n"):
        exact = in_words(codec) or kind(codec) == "chars"
        names = codec.tokens(line) if exact else [readable(codec, i) for i in codec.encode(line)]
        tokens += [*names, last]
    return tokens


def decoded(written: bytes) -> tuple[str, bool]:
    """The whole characters of bytes, and whether there is nothing else."""
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(written)
    return text, not decoder.getstate()[0]


@lru_cache(maxsize=4096)
def in_word(character: str) -> bool:
    """Letters, digits and marks of any script, and what stands inside words: don't, well-known."""
    inner = character in "_'’-‐‑"
    return character.isalnum() or inner or unicodedata.category(character).startswith("M")


def _byte_of() -> dict[str, int]:
    """The byte behind each character of byte-level subwords: printable Latin-1 is itself, the rest follows."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
    others = [byte for byte in range(256) if byte not in plain]
    table = {chr(byte): byte for byte in plain}
    return table | {chr(256 + n): byte for n, byte in enumerate(others)}
