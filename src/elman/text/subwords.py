"""Byte-pair encoding and unigram pieces over bytes, by Hugging Face's `tokenizers`.

Both know all 256 bytes, so every text can be encoded and comes back exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elman.errors import ConfigError, ModelError
from elman.text.vocab import BOS, EOS, PAD, SPECIALS

if TYPE_CHECKING:
    import tokenizers

SUBWORDS = ("bpe", "unigram")
_DEFAULT_SIZE = 8000
_LEAST_SIZE = len(SPECIALS) + 256


class SubwordCodec:
    """A trained `tokenizers.Tokenizer`; stored, folding included, as `tokenizer.json`."""

    def __init__(self, pieces: tokenizers.Tokenizer) -> None:
        # Otherwise "</s>" in a text would be the end of it; the file cannot hold this setting.
        pieces.encode_special_tokens = True
        self._pieces = pieces

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        *,
        kind: str,
        lower: bool = False,
        digits: bool = False,
        min_count: int = 1,
        size: int | None = None,
    ) -> SubwordCodec:
        """Learn `size` subwords (8000 unless said, specials and bytes among them).

        The same texts give the same BPE. Unigram pieces differ a little from run to run: the
        library sums in an order that it does not fix.
        """
        size = _DEFAULT_SIZE if size is None else size
        if size < _LEAST_SIZE:
            raise ConfigError(f"subwords need a size of {_LEAST_SIZE} or more, {size} is too small")
        if kind == "unigram" and min_count > 1:
            raise ConfigError("unigram pieces are chosen by likelihood: they take no min_count")
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers

        pieces = Tokenizer(models.BPE() if kind == "bpe" else models.Unigram())
        pieces.normalizer = _folding(lower, digits)
        pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        pieces.decoder = decoders.ByteLevel()
        pieces.train_from_iterator(map(_scalars, texts), _trainer(kind, size, min_count))
        return cls(pieces)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The tokens by id, as the library writes them: Ġ is a blank."""
        ids = self._pieces.get_vocab()
        return tuple(sorted(ids, key=ids.__getitem__))

    def tokens(self, text: str) -> list[str]:
        """The subwords of a text."""
        return list(self._pieces.encode(_scalars(text)).tokens)

    def encode(self, text: str) -> list[int]:
        """The ids of a text's subwords."""
        return list(self._pieces.encode(_scalars(text)).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; `<pad>`, `<s>` and `</s>` are left out."""
        kept = [i for i in ids if i not in (PAD, BOS, EOS)]
        return str(self._pieces.decode(kept, skip_special_tokens=False))

    def save(self, folder: Path, name: str = "") -> None:
        """Write `tokenizer.json`."""
        path = folder / f"{name}tokenizer.json"
        path.write_text(self._pieces.to_str(pretty=True), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> SubwordCodec:
        """The codec that `save` wrote."""
        from tokenizers import Tokenizer

        try:
            pieces = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
        except Exception as error:  # the library raises nothing more special
            raise ModelError(f"{path}: the file is damaged ({error})") from None
        ids = pieces.get_vocab()
        specials = [ids.get(special) for special in SPECIALS]
        if specials != [*range(len(SPECIALS))] or set(ids.values()) != set(range(len(ids))):
            raise ModelError(f"{path}: its tokens must be numbered from 0, the special ones first")
        return cls(pieces)


def _folding(lower: bool, digits: bool) -> tokenizers.normalizers.Sequence | None:
    from tokenizers import Regex, normalizers

    steps: list[normalizers.Normalizer] = []
    if lower:
        steps.append(normalizers.Lowercase())
    if digits:
        steps.append(normalizers.Replace(Regex(r"\p{Nd}"), "0"))
    return normalizers.Sequence(steps) if steps else None


def _trainer(kind: str, size: int, min_count: int) -> tokenizers.trainers.Trainer:
    from tokenizers import pre_tokenizers, trainers

    common: dict[str, Any] = {
        "vocab_size": size,
        "special_tokens": list(SPECIALS),
        "initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
        "show_progress": False,
    }
    if kind == "bpe":
        return trainers.BpeTrainer(min_frequency=min_count, **common)
    return trainers.UnigramTrainer(unk_token="<unk>", **common)


def _scalars(text: str) -> str:
    """The text with ? for lone surrogates, which no UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
