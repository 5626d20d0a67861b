"""What may be written and when to stop, said in text: constraints and stops of `elman.decoding`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from elman.decoding import (
    AnyOf,
    AtStrings,
    AtTokens,
    Banned,
    Constraint,
    MinLength,
    NoRepeat,
    Stop,
    Written,
    within,
)
from elman.errors import ConfigError
from elman.shapes import Float, Tensor
from elman.tasks.writing.predictor import Predictor, unwritable
from elman.tasks.writing.prompt import Prompt
from elman.tasks.writing.spelled import Spelled, in_words, spelled
from elman.tasks.writing.typed import Typed
from elman.text.vocab import UNK


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Limits of a text that is written.

    max_tokens   the most tokens.
    min_tokens   the fewest before the text may end.
    max_seconds  stop at the first token after so long; None: no hurry.
    no_repeat    no n-gram of tokens twice; None: anything may repeat.
    banned       never written: for models of words these words (or several in a row), for others this text.
    stop         the text ends before any of these strings.

    Tokens that complete an unfinished word of the prompt count as written.
    """

    max_tokens: int = 100
    min_tokens: int = 0
    max_seconds: float | None = None
    no_repeat: int | None = None
    banned: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ConfigError(f"max_tokens is {self.max_tokens}; it must be at least 1")
        if "" in self.stop or "" in self.banned:
            raise ConfigError("an empty string can be neither banned nor a place to stop at")

    def ends(self, lm: Predictor, read: Prompt) -> Stop:
        """Where a text is over; the clock of `max_seconds` runs from now."""
        stops: list[Stop] = [AtTokens((lm.end,))]
        if self.stop:
            stops.append(AtStrings(self.stop, lambda ids: written_text(lm, read, ids)))
        if self.max_seconds is not None:
            stops.append(within(self.max_seconds))
        return AnyOf(tuple(stops)) if len(stops) > 1 else stops[0]

    def constraints(self, lm: Predictor, read: Prompt) -> list[Constraint]:
        """What may come next, the prompt's unfinished word first of all."""
        found: list[Constraint] = [Banned(tuple((i,) for i in unwritable(lm)))]
        if read.typed.allowed(()) is not None:
            found.append(Continues(read.typed))
        if self.min_tokens:
            found.append(MinLength(self.min_tokens, (lm.end,)))
        if self.no_repeat is not None:
            found.append(NoRepeat(self.no_repeat))
        if self.banned:
            found.append(_banned(lm, self.banned))
        return found


@dataclass(frozen=True)
class Continues:
    """First of all what was typed, in any tokens that agree with it."""

    typed: Typed

    def __call__(self, written: Written, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        if written.tokens.shape[1] >= self.typed.most:
            return logits
        barred = torch.zeros_like(logits, dtype=torch.bool)
        for row, ids in enumerate(written.tokens.tolist()):
            allowed = self.typed.allowed(ids)
            if allowed is not None:
                barred[row] = True
                barred[row, list(allowed)] = False
        return logits.masked_fill(barred, float("-inf"))


@dataclass(frozen=True)
class BannedText:
    """None of these strings of bytes anywhere in a row, however it is cut into tokens."""

    spelled: Spelled
    strings: tuple[bytes, ...]

    def __call__(self, written: Written, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
        barred = torch.zeros_like(logits, dtype=torch.bool)
        barred[:, self._containing] = True
        reach = max(map(len, self.strings)) - 1
        recent = written.tokens[:, max(0, written.tokens.shape[1] - reach) :]
        for row, ids in enumerate(recent.tolist()):
            tail = self.spelled.text(ids)
            for string in self.strings:
                for begun in range(1, len(string)):
                    if tail.endswith(string[:begun]):
                        barred[row, self.spelled.beginning(string[begun:])] = True
        return logits.masked_fill(barred, float("-inf"))

    @cached_property
    def _containing(self) -> list[int]:
        tokens = enumerate(self.spelled.tokens)
        return [i for i, token in tokens if any(string in token for string in self.strings)]


def written_text(lm: Predictor, read: Prompt, ids: Sequence[int]) -> str:
    """What the ids add to the text of a prompt; nothing after their end."""
    ids = list(ids)
    ids = ids[: ids.index(lm.end)] if lm.end in ids else ids
    rest = read.typed.rest([i for i in ids if i not in unwritable(lm) or i == UNK])
    apart = in_words(lm.codec) and not read.typed.most and read.text[-1:].strip()
    return f" {rest}" if apart and rest else rest


def _banned(lm: Predictor, words: Sequence[str]) -> Constraint:
    if in_words(lm.codec):
        sequences = [tuple(lm.codec.encode(word)) for word in words]
        return Banned(tuple(ids for ids in sequences if ids and UNK not in ids))
    folded = [lm.codec.decode(lm.codec.encode(word)) for word in words]
    return BannedText(spelled(lm.codec), tuple(word.encode("utf-8", "replace") for word in folded))
