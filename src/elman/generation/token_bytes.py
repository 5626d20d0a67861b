"""What each token of a tokenizer spells, as bytes, and which tokens can follow what was typed."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from elman.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class TokenBytes:
    """The bytes of each token by id; those of the special ones are empty."""

    tokens: tuple[bytes, ...]

    def __getitem__(self, i: int) -> bytes:
        return self.tokens[i]

    def text(self, ids: Sequence[int]) -> bytes:
        """What the ids spell, one after the other."""
        return b"".join(map(self.tokens.__getitem__, ids))

    def matching(self, typed: bytes) -> list[int]:
        """The tokens that are a beginning of what was typed, or begin with all of it."""
        known = self._index
        shorter = [i for n in range(1, len(typed)) for i in known.get(typed[:n], ())]
        return shorter + self.starting_with(typed)

    def starting_with(self, text: bytes) -> list[int]:
        """The tokens that begin with a text."""
        spellings, ids = self._in_order
        first = bisect_left(spellings, text)
        # Up to the first that comes after all that begin so: no byte of UTF-8 is 255, bytes alone may be.
        last = bisect_left(spellings, text + b"\xff" * 256, lo=first)
        return ids[first:last]

    @cached_property
    def word_enders(self) -> list[int]:
        """The tokens that no word goes on with."""
        texts = enumerate(decode_partial(token)[0] for token in self.tokens)
        return [i for i, text in texts if text and not is_word_char(text[0])]

    @cached_property
    def _index(self) -> dict[bytes, list[int]]:
        index: dict[bytes, list[int]] = {}
        for i, token in enumerate(self.tokens):
            if token:
                index.setdefault(token, []).append(i)
        return index

    @cached_property
    def _in_order(self) -> tuple[list[bytes], list[int]]:
        pairs = sorted((token, i) for i, token in enumerate(self.tokens) if token)
        return [token for token, _ in pairs], [i for _, i in pairs]


def token_bytes(tokenizer: Tokenizer) -> TokenBytes:
    """The spelling of every token; made once for each of the last few tokenizers."""
    tokens = tokenizer.token_bytes
    known = _KNOWN.get(id(tokens))  # to hash all tokens takes as long as a step
    if known is None:
        while len(_KNOWN) >= _MOST:
            _KNOWN.pop(next(iter(_KNOWN)), None)
        known = _KNOWN[id(tokens)] = TokenBytes(tokens)
    return known


_KNOWN: dict[int, TokenBytes] = {}
_MOST = 8


def display_token(tokenizer: Tokenizer, i: int) -> str:
    """A token for people: as it is spelled, special ones by their name."""
    piece = token_bytes(tokenizer)[i]
    return piece.decode("utf-8", "backslashreplace") if piece else tokenizer.items[i]


def display_tokens(tokenizer: Tokenizer, text: str, end: int) -> list[str]:
    """The tokens of a text as it was written, known or not, each line's end among them."""
    exact, show = tokenizer.level in ("word", "char"), partial(display_token, tokenizer)
    tokens: list[str] = []
    for line in text.split("\n"):
        tokens += tokenizer.tokens(line) if exact else map(show, tokenizer.encode(line))
        tokens.append(show(end))
    return tokens


def decode_partial(written: bytes) -> tuple[str, bool]:
    """The whole characters of bytes, and whether there is nothing else."""
    decoder = getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(written)
    return text, not decoder.getstate()[0]


@lru_cache(maxsize=4096)
def is_word_char(character: str) -> bool:
    """Letters, digits and marks of any script, and what stands inside words: don't, well-known."""
    inner = character in "_'’-‐‑"
    return character.isalnum() or inner or unicodedata.category(character).startswith("M")
