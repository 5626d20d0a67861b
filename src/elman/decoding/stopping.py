"""When a row has ended. The token at which a stop says so is the last of its row."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from elman.decoding.interfaces import History, Stop
from elman.errors import ConfigError, check_option
from elman.shapes import Bool, Int, Tensor


@dataclass(frozen=True)
class AtTokens:
    """At any of these tokens: ``AtTokens((EOS,))``; without one, never."""

    tokens: tuple[int, ...]

    def __call__(self, written: History) -> Bool[Tensor, " B"]:
        last = written.last
        ended = torch.zeros_like(last, dtype=torch.bool)
        for token in self.tokens:  # comparing with numbers needs no copy to the device
            ended = ended | (last == token)
        return ended


@dataclass(frozen=True)
class AtStrings:
    """Once the text of a row holds any of these stop strings, be it across tokens.

    ``decode`` says what ids mean that are written for a sentence of the batch, given by its number.
    """

    strings: tuple[str, ...]
    decode: Callable[[int, list[int]], str]

    def __post_init__(self) -> None:
        check_strings("strings", self.strings)

    def __call__(self, written: History) -> Bool[Tensor, " B"]:
        texts = map(self.decode, written.sentence.tolist(), written.tokens.tolist())
        ended = [any(string in text for string in self.strings) for text in texts]
        return torch.tensor(ended, dtype=torch.bool, device=written.tokens.device)


def check_strings(name: str, strings: tuple[str, ...]) -> None:
    """Refuse stop strings, or banned ones, that say nothing: an empty one, or one for all."""
    texts = isinstance(strings, tuple | list) and all(isinstance(string, str) for string in strings)
    check_option(name, repr(strings), texts, "a tuple of strings")
    if "" in strings:
        raise ConfigError(f"{name} has an empty string in it, which every text contains")


@dataclass(frozen=True)
class AtLengths:
    """After a number of tokens that each sentence of the batch has of its own: one tag a word."""

    lengths: Int[Tensor, " B"]

    def __call__(self, written: History) -> Bool[Tensor, " N"]:
        lengths = self.lengths.to(written.sentence.device)[written.sentence]
        return lengths <= written.length


@dataclass(frozen=True)
class Deadline:
    """All rows, at the first token after ``clock`` has come to ``at`` (seconds); see `within`."""

    at: float
    clock: Callable[[], float]

    def __call__(self, written: History) -> Bool[Tensor, " B"]:
        late = self.clock() >= self.at
        return torch.full_like(written.sentence, late, dtype=torch.bool)


def within(seconds: float, clock: Callable[[], float] = time.monotonic) -> Deadline:
    """The deadline that lies so many seconds after now."""
    return Deadline(clock() + seconds, clock)


@dataclass(frozen=True)
class AnyOf:
    """At whichever of several stops comes first."""

    stops: tuple[Stop, ...]

    def __call__(self, written: History) -> Bool[Tensor, " B"]:
        ended = torch.zeros_like(written.sentence, dtype=torch.bool)
        for stop in self.stops:
            ended = ended | stop(written)
        return ended
