"""What was typed but not yet read, because its last token may go on: "upo" of "upon".

A `Typed` says which tokens may come in the place of it, and what they add to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, runtime_checkable

from elman.tasks.writing.pieces import Pending, unread
from elman.tasks.writing.spelled import Spelled, in_words, spelled
from elman.text.codec import Codec, TokenCodec
from elman.text.vocab import SPECIALS, UNK

_UNDECIDED = 3  # tokens at the end of a run of which a longer one may yet be made


@runtime_checkable
class Typed(Protocol):
    """The end of a text, as tokens that agree with it."""

    @property
    def most(self) -> int:
        """No more tokens than these stand in its place."""

    def allowed(self, ids: Sequence[int]) -> Sequence[int] | None:
        """What may come after these tokens; None once all that was typed is written."""

    def rest(self, ids: Sequence[int]) -> str:
        """What tokens add to what was typed, those in its place and those that follow."""


def typed(codec: Codec, pending: Pending) -> Typed:
    """What is pending under a codec."""
    text = unread(codec, pending)
    if isinstance(codec, TokenCodec) and in_words(codec):
        return TypedWord(codec, text)
    return TypedBytes(spelled(codec), text.encode("utf-8", "replace"))


@dataclass(frozen=True)
class TypedBytes:
    """Characters, bytes and subwords: any tokens that spell what was typed, the last of them maybe more."""

    spelled: Spelled
    text: bytes

    @property
    def most(self) -> int:
        """A byte a token."""
        return len(self.text)

    def allowed(self, ids: Sequence[int]) -> Sequence[int] | None:
        written = len(self.spelled.text(ids[: self.most]))
        return None if written >= len(self.text) else self.spelled.agreeing(self.text[written:])

    def rest(self, ids: Sequence[int]) -> str:
        return self.spelled.text(ids)[len(self.text) :].decode("utf-8", "replace")


class Reading(NamedTuple):
    """One way to understand a run: tokens that have ended, and the words that the last one may become."""

    ended: tuple[int, ...]
    words: frozenset[int]


@dataclass(frozen=True)
class TypedWord:
    """Words: the last token of a run without blanks is unfinished, or already the whole word.

    Where the tokenizer may yet make one token of two (don, ' of don't), both are possible.
    """

    codec: TokenCodec
    text: str

    @property
    def most(self) -> int:
        return len(self.codec.tokenizer.cut(self.text))

    def allowed(self, ids: Sequence[int]) -> Sequence[int] | None:
        ids = tuple(ids)
        if not self.text or self._place(ids):
            return None
        ways = [way for way in self._readings if way.ended[: len(ids)] == ids]
        return sorted({i for way in ways for i in (way.ended[len(ids) :][:1] or way.words)})

    def rest(self, ids: Sequence[int]) -> str:
        items = self.codec.items
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
            if (
                ids[: place - 1] == ended
                and words.issuperset(ids[place - 1 : place])
                and len(ids) >= place
            ):
                return place
        return 0

    @cached_property
    def _tokens(self) -> list[str]:
        return self.codec.tokenizer.cut(self.text)

    @cached_property
    def _readings(self) -> list[Reading]:
        ways, cut = [], self.codec.tokenizer.cut
        for place in range(max(0, len(self._tokens) - _UNDECIDED), len(self._tokens)):
            ended = self._tokens[:place]
            fragment, before = "".join(self._tokens[place:]), "".join(ended)
            known = enumerate(self.codec.items[len(SPECIALS) :], len(SPECIALS))
            begun = ((i, word) for i, word in known if word.startswith(fragment))
            words = frozenset(i for i, word in begun if cut(before + word) == [*ended, word])
            ids = tuple(self.codec.vocab.encode(ended))
            if words and UNK not in ids:  # which nothing may write
                ways.append(Reading(ids, words))
        return ways
