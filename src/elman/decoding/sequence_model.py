"""A model that writes: all that objectives know of a task."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from torch import nn

from elman.decoding.interfaces import Step, Stop
from elman.shapes import Bool, Float, Int, Tensor

B = TypeVar("B", contravariant=True)


# state, tokens (N,), weights (N, V) -> state, logits: a row whose token is negative reads the mean of all
# tokens by these weights.
Blend = Callable[[Any, Tensor, Tensor], tuple[Any, Tensor]]


class Sequences(NamedTuple):
    """Tokens side by side, the end of each included where there is one."""

    tokens: Int[Tensor, "N T"]
    mask: Bool[Tensor, "N T"]


class SequenceScores(NamedTuple):
    """What a model says of given sequences."""

    log_probs: Float[Tensor, "N T"]  # of each token; 0 at the padding
    hs: Float[Tensor, "N T H"]  # what each was predicted from


@dataclass(frozen=True)
class DecoderStart:
    """A model before it has written anything, one row a sequence."""

    step: Step[Any]  # after a token each, (N,)
    blend: Blend  # the same where some read a mixture of tokens
    state: Any
    start: Int[Tensor, " N"]
    stop: Stop
    limit: int


@runtime_checkable
class SequenceModel(Protocol[B]):
    """A model p(y | x) = Π_t p(y_t | y_{<t}, x) and a batch of x with their gold y.

    With ``copies`` every example of the batch has so many rows, in succession.
    """

    features: int  # of a hidden state
    aligned: bool  # whether the t-th token written answers to the t-th of gold: tags, running text

    @property
    def net(self) -> nn.Module:
        """The network."""

    def targets(self, batch: B) -> Sequences:
        """What should be written."""

    def begin(self, batch: B, copies: int = 1) -> DecoderStart:
        """The first state, and how to go on from it."""

    def score(self, batch: B, given: Sequences, copies: int = 1) -> SequenceScores:
        """Log-probabilities of given sequences in one pass, and the hidden states; with gradients."""

    def states(self, batch: B, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        """The hidden states alone."""

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        """What the task makes of logits for gold: the loss that it is trained with."""

    def likelihood(self, batch: B) -> Float[Tensor, ""]:
        """The task's own loss: all of gold fed back."""

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        """What costs compare of sequences, each up to its end."""
