"""The tokenizer of words, characters and bytes: a way to split text, and a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from elman.errors import ModelError
from elman.text.json_io import read_json, write_json
from elman.text.pre_tokenizer import BYTES, SPLIT_RULES, Level, PreTokenizer
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, Vocab


@dataclass(frozen=True)
class VocabTokenizer:
    """Every token is an entry of a vocabulary or `<unk>`; stored as `vocab.json`."""

    pre_tokenizer: PreTokenizer
    vocab: Vocab

    @property
    def kind(self) -> str:
        return self.pre_tokenizer.kind

    @property
    def level(self) -> Level:
        return SPLIT_RULES[self.kind].level

    @property
    def items(self) -> tuple[str, ...]:
        return self.vocab.items

    @cached_property
    def token_bytes(self) -> tuple[bytes, ...]:
        ordinary = self.items[len(SPECIALS) :]
        if self.level == "byte":
            return (*[b""] * len(SPECIALS), *(bytes([BYTES.index(item)]) for item in ordinary))
        return (*[b""] * len(SPECIALS), *(item.encode("utf-8", "replace") for item in ordinary))

    def normalize(self, text: str) -> str:
        return self.pre_tokenizer.normalize(text)

    def split(self, text: str) -> list[str]:
        return self.pre_tokenizer.split(text)

    def tokens(self, text: str) -> list[str]:
        return self.pre_tokenizer.tokenize(text)

    def join(self, tokens: Sequence[str]) -> str:
        return self.pre_tokenizer.join(tokens)

    def encode(self, text: str) -> list[int]:
        return self.vocab.encode(self.pre_tokenizer.tokenize(text))

    def encode_tokens(self, tokens: Iterable[str]) -> list[int]:
        return self.vocab.encode(map(self.pre_tokenizer.normalize, tokens))

    def decode(self, ids: Sequence[int]) -> str:
        return self.join(self.vocab.decode(i for i in ids if i not in (PAD, BOS, EOS)))

    def extend(self, tokens: Iterable[str]) -> VocabTokenizer:
        return VocabTokenizer(self.pre_tokenizer, self.vocab.extend(tokens))

    def truncate(self, size: int) -> VocabTokenizer:
        return VocabTokenizer(self.pre_tokenizer, Vocab(self.vocab.items[:size]))

    def save(self, folder: Path, name: str = "") -> None:
        write_json(folder / f"{name}vocab.json", self.to_json())

    def to_json(self) -> dict[str, object]:
        return asdict(self.pre_tokenizer) | {"tokens": self.vocab.items}

    @classmethod
    def load(cls, path: Path) -> VocabTokenizer:
        """The tokenizer that `save` wrote."""
        return cls.parse(read_json(path), path)

    @classmethod
    def parse(cls, stored: object, path: Path) -> VocabTokenizer:
        """The same of the value of a JSON file."""
        if not isinstance(stored, dict) or stored.keys() != {"kind", "lower", "digits", "tokens"}:
            raise ModelError(f"{path}: the file is damaged, expected kind, lower, digits and tokens")
        kind, lower, digits = stored["kind"], stored["lower"], stored["digits"]
        if kind not in [*SPLIT_RULES] or not isinstance(lower, bool) or not isinstance(digits, bool):
            raise ModelError(f"{path}: the file is damaged, its kind of tokens is unknown")
        return cls(PreTokenizer(kind, lower, digits), Vocab.parse(stored["tokens"], path))
