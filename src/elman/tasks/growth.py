"""What a trained model does not know yet of the data that it is to be trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from elman.number_format import format_names
from elman.tasks.config import TokenizerConfig
from elman.text.tokenizer import Tokenizer
from elman.text.vocab import find_new

_UNITS = {"word": "words", "char": "characters", "byte": "bytes", "subword": "subwords"}
_SINGULAR = {"affixes": "affix"}


class NewTokens(NamedTuple):
    """Tokens to be added to a vocabulary, and how many there is no room for."""

    taken: tuple[str, ...] = ()
    left: int = 0


class Growth(NamedTuple):
    """What was new to a model in some data. It has rows for all of it, except for what was left unknown."""

    labels: tuple[str, ...] = ()
    idle: int = 0  # labels of the model that have no examples
    tokens: Mapping[str, int] = {}  # how many of which kind: words, characters, affixes
    left: int = 0  # tokens that a full or fixed vocabulary did not take

    def describe(self) -> str:
        """The same in one line: ``2 new labels (x, y), 317 new words, 4 labels without examples kept``."""
        names = f" ({format_names(self.labels)})"
        parts = [_count(len(self.labels), "new labels") + names] if self.labels else []
        parts += [_count(count, f"new {kind}") for kind, count in self.tokens.items() if count]
        parts += [f"{_count(self.idle, 'labels')} without examples kept"] if self.idle else []
        full = "left unknown, for the vocabulary is full or fixed"
        parts += [f"{_count(self.left, 'new tokens')} {full}"] if self.left else []
        return ", ".join(parts) or "no new labels, no new words"


def token_unit(tokenizer: Tokenizer) -> str:
    """What the tokens are called."""
    return _UNITS[tokenizer.level]


def new_tokens(
    tokenizer: Tokenizer, config: TokenizerConfig, counts: Mapping[str, int], *, known: int, fixed: bool = False
) -> NewTokens:
    """Of tokens as they are read, counted, those that have no id yet and are frequent enough to get one.

    ``known`` ids count for the largest size; a ``fixed`` vocabulary takes none. Subwords and bytes spell all.
    """
    if tokenizer.level in ("subword", "byte"):
        return NewTokens()
    new = find_new(tokenizer.items, counts, min_count=config.min_count)
    room = 0 if fixed else max(0, config.size - known) if config.size else len(new)
    return NewTokens(new[:room], max(0, len(new) - room))


def count_normalized(tokenizer: Tokenizer, counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of words as they are written, as counts of tokens as they are read."""
    read: dict[str, int] = {}
    for word, count in counts.items():
        token = tokenizer.normalize(word)
        read[token] = read.get(token, 0) + count
    return read


def count_idle(known: Iterable[str], seen: Iterable[str]) -> int:
    """How many known labels have no examples."""
    return len({*known} - {*seen})


def _count(number: int, things: str) -> str:
    """``1 new label``, ``2 new labels``."""
    if number == 1:
        *others, last = things.split()
        things = " ".join([*others, _SINGULAR.get(last, last.removesuffix("s"))])
    return f"{number:,} {things}"
