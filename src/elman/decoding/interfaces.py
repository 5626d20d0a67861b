"""The kinds of functions that decoding is made of.

A step reads a token and says what may follow; a policy chooses what does follow; a constraint forbids
some of it; a stop says which rows have ended. Each is a plain function or a small frozen dataclass.

The state that a step takes and returns holds what changes, one row for each sequence: a beam copies and drops
rows of it at every step. What never changes (the states of an encoder) stays with the step itself; a leaf
(B,) of the state says which row of it each sequence belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NotRequired, Protocol, TypedDict, runtime_checkable

from torch import Tensor, nn

from elman.state import S

PADDING = 0
"""What finished rows hold and are fed: the id of padding in every vocabulary."""


@dataclass(frozen=True)
class History:
    """What has been written so far, without the first input.

    Whoever needs the last token or the length alone asks for just that: a beam then writes nothing down.
    """

    tokens: Tensor  # (B, t)
    sentence: Tensor  # (B,) the row of the original batch that each continues: beams come and go

    @property
    def last(self) -> Tensor:
        """(B,) the token of each row that was written last."""
        return self.tokens[:, -1]

    @cached_property
    def length(self) -> int:
        """t"""
        return self.tokens.shape[1]


Step = Callable[[S, Tensor], tuple[S, Tensor]]
"""One step of a decoder: state, tokens (B,) -> state, logits (B, V)."""


@dataclass(frozen=True)
class StepParts(Generic[S]):
    """All that a step reads beside its state and a token: weights of a network, and what one call brings.

    A network that has not changed has one step, but for the constants. What ``bind`` gives refers to parts of
    the network alone, since recordings last as long as the network.
    """

    owner: nn.Module
    constants: Any  # tensors and plain values, in tuples; the network's own weights need not be among them
    bind: Callable[[Any], Step[S]]  # the step that reads these constants, or copies of them


@dataclass(frozen=True)
class FixedStep(Generic[S]):
    """A step that does the same whatever the values in its tensors are: a GPU can record and replay it.

    It neither waits for the device nor brings anything to it, and its logits have at most 32 bits. Where it has
    ``parts``, its recording serves another call, too.
    """

    run: Step[S]
    parts: Callable[[], StepParts[S]] | None = None

    def __call__(self, state: S, tokens: Tensor) -> tuple[S, Tensor]:
        return self.run(state, tokens)


@runtime_checkable
class WritingNetwork(Protocol):
    """A network that writes, and knows whether a GPU can record its steps."""

    def unrecordable_reason(self) -> str | None:
        """Why no CUDA graph can be made of its steps; None where one can."""


Policy = Callable[[int, Tensor], Tensor]
"""Which token is written: position, logits (B, V) -> tokens (B,)."""
Constraint = Callable[[History, Tensor], Tensor]
"""What may be written: logits (B, V) -> logits, -inf where forbidden."""
Stop = Callable[[History], Tensor]
"""Where to end: (B,), true where the last token written is the end."""


class Limits(TypedDict):
    """How every search and rollout begins and ends, and what it may not write."""

    start: Tensor  # (B,) what the first step reads
    stop: Stop
    limit: int  # the most tokens
    constraints: NotRequired[Sequence[Constraint]]
