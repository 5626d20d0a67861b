"""Text to ids and back: what every tokenizer offers, learnt from texts or read from a model folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from elman.errors import ConfigError, ModelError
from elman.text.pre_tokenizer import BYTES, SPLIT_RULES, Level, PreTokenizer
from elman.text.subword_tokenizer import SUBWORD_KINDS, SubwordTokenizer, train_subwords
from elman.text.vocab import SPECIALS, Vocab
from elman.text.vocab_tokenizer import VocabTokenizer

TOKEN_KINDS = (*SPLIT_RULES, *SUBWORD_KINDS)
"""The ways to split text that a configuration can name."""


@runtime_checkable
class Tokenizer(Protocol):
    """Text to tokens to ids, and back. The first four ids are those of `SPECIALS`, in every kind."""

    @property
    def kind(self) -> str:
        """How text is split, one of `TOKEN_KINDS`."""

    @property
    def level(self) -> Level:
        """What a token is: a word, a character, a byte, or a piece of a word."""

    @property
    def items(self) -> tuple[str, ...]:
        """The tokens by id."""

    @property
    def token_bytes(self) -> tuple[bytes, ...]:
        """What each token spells in UTF-8, by id; special tokens spell nothing."""

    def normalize(self, text: str) -> str:
        """The text as the tokenizer reads it: lower case or digits as 0 where it was made so."""

    def split(self, text: str) -> list[str]:
        """The tokens of a text as it is written; pieces of words are normalized."""

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, normalized, known or not."""

    def join(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without `<s>` and `</s>`; no text yields those or `<pad>`."""

    def encode_tokens(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens that ``split`` gave."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; `<pad>`, `<s>` and `</s>` are left out."""

    def extend(self, tokens: Iterable[str]) -> Tokenizer:
        """The same with further tokens, whose ids follow; pieces of words take none."""

    def truncate(self, size: int) -> Tokenizer:
        """The same with its first ``size`` ids only, which undoes ``extend``."""

    def save(self, folder: Path, name: str = "") -> None:
        """Write one JSON file whose name begins with `name` into the folder."""


def build_tokenizer(
    texts: Iterable[str],
    *,
    kind: str = "words",
    lower: bool = False,
    digits: bool = False,
    min_count: int = 1,
    size: int | None = None,
) -> Tokenizer:
    """Learn the tokens of texts: `min_count` and `size` as in `Vocab.build`; bytes take neither."""
    if kind not in TOKEN_KINDS:
        raise ConfigError(f"unknown kind of tokens {kind!r}; choose from {', '.join(TOKEN_KINDS)}")
    if kind in SUBWORD_KINDS:
        return train_subwords(texts, kind=kind, lower=lower, digits=digits, min_count=min_count, size=size)
    pre_tokenizer = PreTokenizer(kind, lower, digits)
    if kind == "bytes":
        if min_count > 1 or size is not None:
            raise ConfigError("tokens of the kind bytes are always all 256: no min_count, no size")
        return VocabTokenizer(pre_tokenizer, Vocab((*SPECIALS, *BYTES)))
    tokens = (token for text in texts for token in pre_tokenizer.tokenize(text))
    return VocabTokenizer(pre_tokenizer, Vocab.build(tokens, min_count=min_count, size=size))


def load_tokenizer(folder: Path, name: str = "") -> Tokenizer:
    """The tokenizer that `save` wrote under this name."""
    vocab, subwords = folder / f"{name}vocab.json", folder / f"{name}tokenizer.json"
    if vocab.exists() and subwords.exists():
        raise ModelError(f"{folder}: both {vocab.name} and {subwords.name} are there, one too many")
    return SubwordTokenizer.load(subwords) if subwords.exists() else VocabTokenizer.load(vocab)
