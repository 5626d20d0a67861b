"""The two sides of a pair: their vocabularies, texts as numbers, and numbers as texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from elman.errors import ModelError
from elman.files.model_files import JOINT_VOCABULARY, VOCABULARIES, remove_files
from elman.tasks.config import TokenizerConfig
from elman.tasks.growth import Growth, NewTokens, new_tokens, token_unit
from elman.tasks.seq2seq.data import EncodedPair, Seq2SeqExample, TokenizerPairConfig
from elman.text.tokenizer import Tokenizer, load_tokenizer
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, UNK


class TokenizerPair:
    """What cuts sources and what cuts targets; joint tokens are one and the same."""

    def __init__(self, source: Tokenizer, target: Tokenizer) -> None:
        self.source, self.target = source, target

    @property
    def joint(self) -> bool:
        return self.source is self.target

    @classmethod
    def learn(cls, tokens: TokenizerPairConfig, examples: Sequence[Seq2SeqExample]) -> TokenizerPair:
        """The tokens of some pairs."""
        if tokens.joint:
            both = tokens.source.learn(text for e in examples for text in (e.source, *e.targets))
            return cls(both, both)
        source = tokens.source.learn(e.source for e in examples)
        return cls(source, tokens.target.learn(target for e in examples for target in e.targets))

    def grow(
        self, tokens: TokenizerPairConfig, examples: Sequence[Seq2SeqExample]
    ) -> tuple[TokenizerPair, Growth]:
        """These with the tokens of further pairs, whose ids follow."""
        sources, targets = ([e.source for e in examples], [t for e in examples for t in e.targets])
        if self.joint:
            both, found = _extend(self.source, tokens.source, [*sources, *targets])
            unit = token_unit(both)
            return TokenizerPair(both, both), Growth(tokens={unit: len(found.taken)}, left=found.left)
        source, read = _extend(self.source, tokens.source, sources)
        target, written = _extend(self.target, tokens.target, targets)
        added = {
            f"source {token_unit(source)}": len(read.taken),
            f"target {token_unit(target)}": len(written.taken),
        }
        return TokenizerPair(source, target), Growth(tokens=added, left=read.left + written.left)

    @classmethod
    def load(cls, folder: Path) -> TokenizerPair:
        """What ``save`` wrote."""
        if any((folder / name).exists() for name in JOINT_VOCABULARY):
            both = load_tokenizer(folder)
            return cls(both, both)
        return cls(load_tokenizer(folder, "source-"), load_tokenizer(folder, "target-"))

    def save(self, folder: Path) -> None:
        remove_files(folder, VOCABULARIES)  # of an earlier model
        if self.joint:
            self.source.save(folder)
        else:
            self.source.save(folder, "source-")
            self.target.save(folder, "target-")

    def reuse(self, folder: Path) -> TokenizerPair:
        """What was stored, if it is of the same data."""
        stored = TokenizerPair.load(folder)
        pairs = ((self.source, stored.source), (self.target, stored.target))
        if any(len(own.items) != len(other.items) for own, other in pairs):
            raise ModelError(f"{folder} was trained on other data: its vocabulary differs")
        return stored

    def encode(self, source: str, target: str) -> EncodedPair:
        """A pair as numbers."""
        return EncodedPair(source, self.source.encode(source), [*self.target.encode(target), EOS], [], ())

    def encode_copying(self, source: str, target: str) -> EncodedPair:
        """The same where words can be copied: unknown ones of the source have ids beyond the vocabulary."""
        known, beyond, size = self._ids, dict[str, int](), len(self.target.items)
        copies = [
            known[word] if word in known else beyond.setdefault(word, size + len(beyond))
            for word in self.source.tokens(source)
        ]
        words = zip(self.target.encode(target), self.target.tokens(target), strict=True)
        ids = [beyond.get(word, UNK) if i == UNK else i for i, word in words]
        return EncodedPair(source, self.source.encode(source), [*ids, EOS], copies, tuple(beyond))

    @cached_property
    def _ids(self) -> dict[str, int]:
        # Without the specials: a source must not be able to end the answer.
        return {item: i for i, item in enumerate(self.target.items) if i >= len(SPECIALS)}

    def decode(self, ids: Sequence[int], row: EncodedPair) -> list[str]:
        """The tokens that were written about a source."""
        items = (*self.target.items, *row.unknown) if row.unknown else self.target.items
        return [items[i] for i in ids]

    def join_tokens(self, tokens: Sequence[str], ids: Sequence[int]) -> str:
        """Their text, without `<pad>`, `<s>` and `</s>`; tokens of words may be others than the ids say."""
        return self.target.join([t for t, i in zip(tokens, ids, strict=True) if i not in (PAD, BOS, EOS)])

    def matches(self, other: TokenizerPair) -> bool:
        """Whether two models read and write the same ids."""
        return (self.source.items, self.target.items) == (other.source.items, other.target.items)


def _extend(tokenizer: Tokenizer, config: TokenizerConfig, texts: Iterable[str]) -> tuple[Tokenizer, NewTokens]:
    counts = Counter(token for text in texts for token in tokenizer.tokens(text))
    new = new_tokens(tokenizer, config, counts, known=len(tokenizer.items))
    return tokenizer.extend(new.taken), new
