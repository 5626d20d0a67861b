"""Text to ids and back, learnt from texts and kept in a model folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from elman.errors import ConfigError, ModelError
from elman.text.stored import distinct_strings, read_json, write_json
from elman.text.subwords import SUBWORDS, SubwordCodec
from elman.text.tokenizers import BYTES, CUTS, Tokenizer
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, Vocab

KINDS = (*CUTS, *SUBWORDS)


@runtime_checkable
class Codec(Protocol):
    """Text to ids and back. The first four ids are those of `SPECIALS`, in every kind."""

    @property
    def items(self) -> tuple[str, ...]:
        """The tokens by id."""

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, known or not."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without `<s>` and `</s>`; no text yields those or `<pad>`."""

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; `<pad>`, `<s>` and `</s>` are left out."""

    def save(self, folder: Path, name: str = "") -> None:
        """Write one JSON file whose name begins with `name` into the folder."""


@dataclass(frozen=True)
class TokenCodec:
    """A tokenizer and a vocabulary; stored as `vocab.json`."""

    tokenizer: Tokenizer
    vocab: Vocab

    @property
    def items(self) -> tuple[str, ...]:
        """The tokens by id."""
        return self.vocab.items

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, known or not."""
        return self.tokenizer.split(text)

    def encode(self, text: str) -> list[int]:
        """The ids of a text's tokens."""
        return self.vocab.encode(self.tokenizer.split(text))

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """The ids of tokens as they are written."""
        return self.vocab.encode(map(self.tokenizer.fold, tokens))

    def extended(self, tokens: Iterable[str]) -> TokenCodec:
        """A codec that knows further tokens, whose ids follow those that it has."""
        return TokenCodec(self.tokenizer, Vocab((*self.vocab.items, *tokens)))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; `<pad>`, `<s>` and `</s>` are left out."""
        return self.tokenizer.join(self.vocab.decode(i for i in ids if i not in (PAD, BOS, EOS)))

    def save(self, folder: Path, name: str = "") -> None:
        """Write `vocab.json`."""
        write_json(
            folder / f"{name}vocab.json", asdict(self.tokenizer) | {"tokens": self.vocab.items}
        )


def build(
    texts: Iterable[str],
    *,
    kind: str = "words",
    lower: bool = False,
    digits: bool = False,
    min_count: int = 1,
    size: int | None = None,
) -> Codec:
    """Learn the tokens of texts: `min_count` and `size` as in `Vocab.build`; bytes take neither."""
    if kind not in KINDS:
        raise ConfigError(f"unknown kind of tokens {kind!r}; choose from {', '.join(KINDS)}")
    if kind in SUBWORDS:
        return SubwordCodec.train(
            texts, kind=kind, lower=lower, digits=digits, min_count=min_count, size=size
        )
    tokenizer = Tokenizer(kind, lower, digits)
    if kind == "bytes":
        if min_count > 1 or size is not None:
            raise ConfigError("tokens of the kind bytes are always all 256: no min_count, no size")
        return TokenCodec(tokenizer, Vocab((*SPECIALS, *BYTES)))
    tokens = (token for text in texts for token in tokenizer.split(text))
    return TokenCodec(tokenizer, Vocab.build(tokens, min_count=min_count, size=size))


def load(folder: Path, name: str = "") -> Codec:
    """The codec that `save` wrote under this name."""
    vocab, subwords = folder / f"{name}vocab.json", folder / f"{name}tokenizer.json"
    if vocab.exists() and subwords.exists():
        raise ModelError(f"{folder}: both {vocab.name} and {subwords.name} are there, one too many")
    return SubwordCodec.load(subwords) if subwords.exists() else _load_tokens(vocab)


def _load_tokens(path: Path) -> TokenCodec:
    stored = read_json(path)
    if not isinstance(stored, dict) or stored.keys() != {"kind", "lower", "digits", "tokens"}:
        raise ModelError(f"{path}: the file is damaged, expected kind, lower, digits and tokens")
    kind, lower, digits = stored["kind"], stored["lower"], stored["digits"]
    if kind not in tuple(CUTS) or not isinstance(lower, bool) or not isinstance(digits, bool):
        raise ModelError(f"{path}: the file is damaged, its kind of tokens is unknown")
    items = distinct_strings(stored["tokens"], path)
    if items[: len(SPECIALS)] != SPECIALS:
        raise ModelError(
            f"{path}: the file is damaged, its tokens must begin with the special ones"
        )
    return TokenCodec(Tokenizer(kind, lower, digits), Vocab(items))
