"""Constraints that a recording can obey: those that ask for no more than how much was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch.nn.functional import pad

from elman.decoding.constraints import BannedTokens, ForcedPrefix, MinLength
from elman.decoding.interfaces import Constraint
from elman.shapes import Tensor


@runtime_checkable
class PassingConstraint(Protocol):
    """A constraint that forbids nothing any more from some position on: until there nothing is recorded."""

    @property
    def inert_from(self) -> int:
        """The position."""


PlacedConstraint = Callable[[Tensor, Tensor], Tensor]
"""What may be written: place (1,), logits (B, V) -> logits, -inf where forbidden."""


def record_constraints(constraints: Sequence[Constraint], start: Tensor) -> list[PlacedConstraint] | str:
    """The constraints for as many rows as ``start`` has, where they are; or why one cannot be recorded."""
    found = []
    for constraint in constraints:
        placed = _record(constraint, start)
        if isinstance(placed, str):
            return placed
        found.append(placed)
    return found


def _record(constraint: Constraint, start: Tensor) -> PlacedConstraint | str:
    if isinstance(constraint, BannedTokens) and all(len(one) == 1 for one in constraint.sequences):
        barred = _tokens([one[0] for one in constraint.sequences], start)
        return lambda place, logits: logits.index_fill(1, barred, float("-inf"))
    if isinstance(constraint, MinLength):
        ends, least = _tokens(constraint.ends, start), constraint.length
        return lambda place, logits: torch.where(
            place < least, logits.index_fill(1, ends, float("-inf")), logits
        )
    if isinstance(constraint, ForcedPrefix):
        wanted = pad(constraint.tokens.to(start.device), (0, 1), value=-1)
        return lambda place, logits: _force(wanted, place, logits)
    return f"{type(constraint).__name__} looks in Python at what was written"


def _force(wanted: Tensor, place: Tensor, logits: Tensor) -> Tensor:
    one = wanted.index_select(1, place.clamp(max=wanted.shape[1] - 1))
    other = torch.arange(logits.shape[1], device=logits.device) != one
    return logits.masked_fill(other & (one >= 0), float("-inf"))


def _tokens(tokens: Sequence[int], start: Tensor) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long, device=start.device)
