"""What was typed but not yet read, as its last token may go on ("upo" of "upon"), and what may stand there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from elman.generation.incremental import Pending, unread_text
from elman.generation.token_bytes import TokenBytes, token_bytes
from elman.text.tokenizer import Tokenizer
from elman.text.vocab import SPECIALS, UNK

_UNDECIDED = 3  # tokens at the end of a run of which a longer one may yet be made


@runtime_checkable
class PartialPrefix(Protocol):
    """The end of a text, as tokens that agree with it."""

    @property
    def most(self) -> int:
        """No more tokens than these stand in its place."""

    def next_ids(self, ids: Sequence[int]) -> Sequence[int] | None:
        """What may come after these tokens; None once all that was typed is written."""

    def rest(self, ids: Sequence[int]) -> str:
        """What tokens add to what was typed, those in its place and those that follow."""


def partial_prefix(tokenizer: Tokenizer, pending: Pending) -> PartialPrefix:
    """What is pending under a tokenizer."""
    text = unread_text(tokenizer, pending)
    if tokenizer.level == "word":
        return PartialWord(tokenizer, text)
    return PartialBytes(token_bytes(tokenizer), text.encode("utf-8", "replace"))


@dataclass(frozen=True)
class PartialBytes:
    """Characters, bytes and subwords: any tokens that spell what was typed, the last of them maybe more."""

    token_bytes: TokenBytes
    text: bytes

    @property
    def most(self) -> int:
        """A byte a token."""
        return len(self.text)

    def next_ids(self, ids: Sequence[int]) -> Sequence[int] | None:
        written = len(self.token_bytes.text(ids[: self.most]))
        return None if written >= len(self.text) else self.token_bytes.matching(self.text[written:])

    def rest(self, ids: Sequence[int]) -> str:
        return self.token_bytes.text(ids)[len(self.text) :].decode("utf-8", "replace")


class WordParse(NamedTuple):
    """One way to understand a run: tokens that have ended, and the words that the last one may become."""

    ended: tuple[int, ...]
    words: frozenset[int]


@dataclass(frozen=True)
class PartialWord:
    """Words: the last token of a run without blanks is unfinished, or already the whole word.

    Where the tokenizer may yet make one token of two (don, ' of don't), both are possible.
    """

    tokenizer: Tokenizer
    text: str

    @property
    def most(self) -> int:
        return len(self._tokens)

    def next_ids(self, ids: Sequence[int]) -> Sequence[int] | None:
        ids = tuple(ids)
        if not self.text or self._place(ids):
            return None
        ways = [way for way in self._readings if way.ended[: len(ids)] == ids]
        return sorted({i for way in ways for i in (way.ended[len(ids) :][:1] or way.words)})

    def rest(self, ids: Sequence[int]) -> str:
        items = self.tokenizer.items
        if not self.text:
            return " ".join(items[i] for i in ids)
        place = self._place(tuple(ids))
        if not place:
            return ""
        ended = "".join(self._tokens[: place - 1])
        first = (ended + items[ids[place - 1]])[len(self.text) :]
        return " ".join([first, *(items[i] for i in ids[place:])])

    def _place(self, ids: tuple[int, ...]) -> int:
        """How many of the ids stand in the place of what was typed; 0 if they are too few."""
        for ended, words in self._readings:
            place = len(ended) + 1
            if ids[: place - 1] == ended and words.issuperset(ids[place - 1 : place]) and len(ids) >= place:
                return place
        return 0

    @cached_property
    def _tokens(self) -> list[str]:
        return self.tokenizer.split(self.text)

    @cached_property
    def _readings(self) -> list[WordParse]:
        ways, cut = [], self.tokenizer.split
        for place in range(max(0, len(self._tokens) - _UNDECIDED), len(self._tokens)):
            ended = self._tokens[:place]
            fragment, before = "".join(self._tokens[place:]), "".join(ended)
            known = enumerate(self.tokenizer.items[len(SPECIALS) :], len(SPECIALS))
            begun = ((i, word) for i, word in known if word.startswith(fragment))
            words = frozenset(i for i, word in begun if cut(before + word) == [*ended, word])
            ids = tuple(self.tokenizer.encode_tokens(ended))
            if words and UNK not in ids:  # which nothing may write
                ways.append(WordParse(ids, words))
        return ways
