"""Byte-pair encoding and unigram pieces over bytes, as Hugging Face's `tokenizers` applies them.

Both know all 256 bytes, so every text can be encoded and comes back exactly.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.errors import ConfigError, ModelError
from elman.files.atomic_files import write_atomically
from elman.text.background_call import call_in_background
from elman.text.json_io import read_model_text
from elman.text.pre_tokenizer import Level
from elman.text.unigram_training import learn_pieces
from elman.text.vocab import BOS, EOS, PAD, SPECIALS, UNK

if TYPE_CHECKING:
    import tokenizers

SUBWORD_KINDS = ("bpe", "unigram")
_DIGITS = 9  # of log p after the point


class SubwordTokenizer:
    """A trained `tokenizers.Tokenizer`; stored, normalizing included, as `tokenizer.json`."""

    level: Level = "subword"

    def __init__(self, pieces: tokenizers.Tokenizer) -> None:
        # Otherwise "</s>" in a text would be the end of it; the file cannot hold this setting.
        pieces.encode_special_tokens = True
        self._pieces = pieces

    @property
    def kind(self) -> str:
        return type(self._pieces.model).__name__.lower()

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The tokens by id, as the library writes them: Ġ is a blank."""
        ids = self._pieces.get_vocab()
        return tuple(sorted(ids, key=ids.__getitem__))

    @cached_property
    def token_bytes(self) -> tuple[bytes, ...]:
        table = _bytes_by_character()
        ordinary = self.items[len(SPECIALS) :]
        return (*[b""] * len(SPECIALS), *(bytes(map(table.__getitem__, i)) for i in ordinary))

    @cached_property
    def definition(self) -> dict[str, Any]:
        """What the library stores of it: normalizer, vocabulary, merges or scores."""
        stored: dict[str, Any] = json.loads(self._pieces.to_str())
        return stored

    def normalize(self, text: str) -> str:
        return self.decode(self.encode(text))

    def tokens(self, text: str) -> list[str]:
        return list(self._pieces.encode(to_scalars(text)).tokens)

    split = tokens

    def join(self, tokens: Sequence[str]) -> str:
        return str(self._pieces.decoder.decode(list(tokens)))

    def encode(self, text: str) -> list[int]:
        return list(self._pieces.encode(to_scalars(text)).ids)

    def encode_tokens(self, tokens: Iterable[str]) -> list[int]:
        known = self._pieces.token_to_id
        return [UNK if (i := known(token)) is None or i < len(SPECIALS) else i for token in tokens]

    def decode(self, ids: Sequence[int]) -> str:
        kept = [i for i in ids if i not in (PAD, BOS, EOS)]
        return str(self._pieces.decode(kept, skip_special_tokens=False))

    def decode_all(self, rows: Iterable[Sequence[int]]) -> list[str]:
        """`decode` of many, by several threads."""
        kept = [[i for i in ids if i not in (PAD, BOS, EOS)] for ids in rows]
        return [str(text) for text in self._pieces.decode_batch(kept, skip_special_tokens=False)]

    def extend(self, tokens: Iterable[str]) -> SubwordTokenizer:
        if [*tokens]:
            raise ConfigError("subwords spell every word: they take no further tokens")
        return self

    def truncate(self, size: int) -> SubwordTokenizer:
        if size != len(self.items):
            raise ConfigError(f"of {len(self.items)} subwords none can be left out, not even to {size}")
        return self

    def save(self, folder: Path, name: str = "") -> None:
        write_atomically(folder / f"{name}tokenizer.json", self._pieces.to_str(pretty=True).encode())

    @classmethod
    def load(cls, path: Path) -> SubwordTokenizer:
        """The tokenizer that `save` wrote."""
        from tokenizers import Tokenizer

        text = read_model_text(path)
        try:
            pieces = Tokenizer.from_str(text)
        except Exception as error:  # the library raises nothing more special
            raise ModelError(f"{path}: the file is damaged ({error})") from None
        ids = pieces.get_vocab()
        specials = [ids.get(special) for special in SPECIALS]
        if specials != [*range(len(SPECIALS))] or set(ids.values()) != set(range(len(ids))):
            raise ModelError(f"{path}: its tokens must be numbered from 0, the special ones first")
        return cls(pieces)


def to_scalars(text: str) -> str:
    """The text with ? for lone surrogates, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _bytes_by_character() -> dict[str, int]:
    """The byte behind each character of byte-level subwords: printable Latin-1 is itself, the rest follows."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(others)}


def train_subwords(
    texts: Iterable[str], *, kind: str, lower: bool, digits: bool, min_count: int, size: int | None
) -> SubwordTokenizer:
    """Learn `size` subwords (8000 unless said, specials and bytes among them); the same texts give the same."""
    size, least = 8000 if size is None else size, len(SPECIALS) + 256
    if size < least:
        raise ConfigError(f"subwords need a size of {least} or more, {size} is too small")
    if kind == "unigram" and min_count > 1:
        raise ConfigError("unigram pieces are chosen by likelihood: they take no min_count")
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    pieces = Tokenizer(models.BPE())
    steps: list[normalizers.Normalizer] = [normalizers.Lowercase()] if lower else []
    if digits:
        steps.append(normalizers.Replace(Regex(r"\p{Nd}"), "0"))
    pieces.normalizer = normalizers.Sequence(steps) if steps else None
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    if kind == "bpe":
        _train_bpe(pieces, texts, size, min_count)
    else:
        _train_unigram(pieces, texts, size)
    return SubwordTokenizer(pieces)


def _train_bpe(pieces: tokenizers.Tokenizer, texts: Iterable[str], size: int, min_count: int) -> None:
    from tokenizers import pre_tokenizers, trainers

    options: dict[str, Any] = {"special_tokens": list(SPECIALS), "show_progress": False}
    options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=min_count, **options)
    call_in_background(lambda: pieces.train_from_iterator(map(to_scalars, texts), trainer))


def _train_unigram(pieces: tokenizers.Tokenizer, texts: Iterable[str], size: int) -> None:
    """By our own EM: the library's sums in an order that differs from run to run."""
    from tokenizers import models

    normalize = pieces.normalizer.normalize_str if pieces.normalizer else str
    split = pieces.pre_tokenizer.pre_tokenize_str
    words = Counter(word for text in texts for word, _ in split(normalize(to_scalars(text))))
    alphabet = _bytes_by_character()
    found = learn_pieces(words, size - len(SPECIALS) - len(alphabet) + len({c for word in words for c in word}))
    least, known = min((score for _, score in found), default=0.0), {piece for piece, _ in found}
    found += [(character, least - 10.0) for character in sorted(alphabet) if character not in known]
    # The library misreads the last of many digits: a tokenizer that was stored would be another one.
    exact = [(piece, round(score, _DIGITS)) for piece, score in found]
    vocabulary = [*((special, 0.0) for special in SPECIALS), *exact]
    pieces.model = models.Unigram(vocabulary, unk_id=UNK)
    pieces.add_special_tokens(list(SPECIALS))
