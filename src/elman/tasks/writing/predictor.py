"""What scoring, writing, completing and streaming need of a language model, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import nn

from elman.layers.softmax import Output
from elman.shapes import Float, Int, Tensor
from elman.state import leaves
from elman.text.codec import Codec
from elman.text.vocab import BOS, EOS, PAD, UNK

T = TypeVar("T")


@runtime_checkable
class Reader(Protocol):
    """A network that reads tokens one by one; its state is all that it keeps of them."""

    training: bool

    @property
    def output(self) -> Output:
        """From what `read` returns to the next token."""

    def begin(self, rows: int) -> Any:
        """The state before anything is read."""

    def read(self, state: Any, ids: Tensor, mask: Tensor | None = None) -> tuple[Any, Tensor]:
        """The state after ids (B, T), and what the output sees after each of them (B, T, H)."""

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """The state after one token of each row (B,), and the logits of what follows (B, V)."""

    def train(self, mode: bool = True) -> Any:
        """As in torch."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """As in torch."""


@runtime_checkable
class Predictor(Protocol):
    """A language model: text to ids and back around a reader."""

    @property
    def codec(self) -> Codec:
        """Its tokens."""

    @property
    def net(self) -> Reader:
        """Its network."""

    @property
    def end(self) -> int:
        r"""The id at the end of every line, read before the first one too: `</s>`, or that of ``\n``."""


@dataclass(frozen=True)
class Around:
    """The text of a language model around another network."""

    codec: Codec
    net: Reader
    end: int


class Place(NamedTuple):
    """Where reading has come to: the state, and one token of each row that it has yet to read."""

    state: Any
    token: Int[Tensor, " B"]


@contextmanager
def reading(lm: Predictor) -> Iterator[Reader]:
    """The network as it predicts: without dropout, without gradients."""
    training = lm.net.training
    lm.net.train(False)
    try:
        with torch.no_grad():
            yield lm.net
    finally:
        lm.net.train(training)


def stepwise(lm: Predictor, turns: Iterator[T]) -> Iterator[T]:
    """The same items, each computed as the network predicts; between them everything is as it was."""
    while True:
        with reading(lm):
            try:
                turn = next(turns)
            except StopIteration:
                return
        yield turn


def beginning(lm: Predictor) -> Place:
    """Before the first token of a text; one row."""
    state = lm.net.begin(1)
    _, some = next(leaves(state))
    return Place(state, torch.tensor([lm.end], device=some.device))


def onward(lm: Predictor, place: Place, ids: Sequence[int]) -> Place:
    """The place after these ids; one row."""
    if not ids:
        return place
    read = torch.tensor([[*place.token.tolist(), *ids]], device=place.token.device)
    with reading(lm) as net:
        state, _ = net.read(place.state, read[:, :-1])
    return Place(state, read[:, -1])


def unwritable(lm: Predictor) -> list[int]:
    """The ids that stand for no text: nothing written or completed has them."""
    return [i for i in (PAD, UNK, BOS, EOS) if i != lm.end]


def writable_log_probs(lm: Predictor, logits: Float[Tensor, "B V"]) -> Float[Tensor, "B V"]:
    """Log-probabilities among what can be written; they sum to one without what cannot."""
    barred = torch.tensor(unwritable(lm), device=logits.device)
    return logits.index_fill(1, barred, float("-inf")).log_softmax(-1)


def lines_of(lm: Predictor, text: str) -> list[int]:
    """The ids of a text as they stand in a corpus: after each line its end, after the last one too."""
    return [i for line in text.split("\n") for i in (*lm.codec.encode(line), lm.end)]
