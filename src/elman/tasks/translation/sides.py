"""The two sides of a pair: their vocabularies, texts as numbers, and numbers as texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from elman.errors import ModelError
from elman.tasks.translation.data import Example, PairTokens, Row
from elman.text import codec as codecs
from elman.text.codec import Codec, TokenCodec
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, UNK


class Written(NamedTuple):
    """An answer as text and as the tokens that it is made of."""

    text: str
    tokens: list[str]


class Sides:
    """What cuts sources and what cuts targets; joint tokens are one and the same."""

    def __init__(self, source: Codec, target: Codec) -> None:
        self.source, self.target = source, target

    @property
    def joint(self) -> bool:
        return self.source is self.target

    @classmethod
    def learn(cls, tokens: PairTokens, examples: Sequence[Example]) -> Sides:
        """The tokens of some pairs."""
        if tokens.joint:
            both = tokens.source.learn(text for e in examples for text in (e.source, *e.targets))
            return cls(both, both)
        targets = (target for e in examples for target in e.targets)
        source = tokens.source.learn(e.source for e in examples)
        return cls(source, tokens.target.learn(targets))

    @classmethod
    def load(cls, folder: Path) -> Sides:
        """What ``save`` wrote."""
        if any((folder / name).exists() for name in ("vocab.json", "tokenizer.json")):
            both = codecs.load(folder)
            return cls(both, both)
        return cls(codecs.load(folder, "source-"), codecs.load(folder, "target-"))

    def save(self, folder: Path) -> None:
        for side in ("", "source-", "target-"):  # of an earlier model
            for name in ("vocab.json", "tokenizer.json"):
                (folder / f"{side}{name}").unlink(missing_ok=True)
        if self.joint:
            self.source.save(folder)
        else:
            self.source.save(folder, "source-")
            self.target.save(folder, "target-")

    def adopted(self, folder: Path) -> Sides:
        """What was stored, if it is of the same data."""
        stored = Sides.load(folder)
        pairs = ((self.source, stored.source), (self.target, stored.target))
        if any(len(own.items) != len(other.items) for own, other in pairs):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        return stored

    def row(self, source: str, target: str) -> Row:
        """A pair as numbers."""
        return Row(source, self.source.encode(source), [*self.target.encode(target), EOS], [], ())

    def copied_row(self, source: str, target: str) -> Row:
        """The same where words can be copied: unknown ones of the source have ids beyond the vocabulary."""
        known, beyond, size = self._ids, dict[str, int](), len(self.target.items)
        copies = [
            known[word] if word in known else beyond.setdefault(word, size + len(beyond))
            for word in self.source.tokens(source)
        ]
        words = zip(self.target.encode(target), self.target.tokens(target), strict=True)
        ids = [beyond.get(word, UNK) if i == UNK else i for i, word in words]
        return Row(source, self.source.encode(source), [*ids, EOS], copies, tuple(beyond))

    @cached_property
    def _ids(self) -> dict[str, int]:
        # Without the specials: a source must not be able to end the answer.
        ordinary = enumerate(self.target.items[len(SPECIALS) :], start=len(SPECIALS))
        return {item: i for i, item in ordinary}

    def written(self, ids: Sequence[int], row: Row) -> Written:
        """The text of what was written about a source; `<pad>` and `<s>` are left out of it."""
        items = (*self.target.items, *row.unknown) if row.unknown else self.target.items
        return self.joined([items[i] for i in ids], ids)

    def joined(self, tokens: list[str], ids: Sequence[int]) -> Written:
        """Tokens as a text; those of words may be others than the ids say."""
        if isinstance(self.target, TokenCodec):
            said = [token for token, i in zip(tokens, ids, strict=True) if i not in (PAD, BOS, EOS)]
            return Written(self.target.tokenizer.join(said), tokens)
        return Written(self.target.decode(ids), tokens)

    def same(self, other: Sides) -> bool:
        """Whether two models read and write the same ids."""
        return (self.source.items, self.target.items) == (other.source.items, other.target.items)


def spelled(codec: Codec) -> bool:
    """Whether its tokens are letters."""
    return isinstance(codec, TokenCodec) and codec.tokenizer.kind in ("chars", "bytes")
