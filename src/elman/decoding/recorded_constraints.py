"""Constraints that a recording can obey: those that ask for no more than how much was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

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


class PlacedConstraint(NamedTuple):
    """What may be written, by a rule that several recordings can have and tensors of this one."""

    rule: Callable[..., Tensor]  # place (1,), logits (B, V), tensors -> logits, -inf where forbidden
    tensors: tuple[Tensor, ...]


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
        return PlacedConstraint(_bar, (_tokens([one[0] for one in constraint.sequences], start),))
    if isinstance(constraint, MinLength):
        ends, least = _tokens(constraint.ends, start), _tokens([constraint.length], start)
        return PlacedConstraint(_bar_before, (ends, least))
    if isinstance(constraint, ForcedPrefix):
        return PlacedConstraint(_force, (pad(constraint.tokens.to(start.device), (0, 1), value=-1),))
    return f"{type(constraint).__name__} looks in Python at what was written"


def _bar(place: Tensor, logits: Tensor, barred: Tensor) -> Tensor:
    return logits.index_fill(1, barred, float("-inf"))


def _bar_before(place: Tensor, logits: Tensor, barred: Tensor, least: Tensor) -> Tensor:
    return torch.where(place < least, logits.index_fill(1, barred, float("-inf")), logits)


def _force(place: Tensor, logits: Tensor, wanted: Tensor) -> Tensor:
    one = wanted.index_select(1, place.clamp(max=wanted.shape[1] - 1))
    other = torch.arange(logits.shape[1], device=logits.device) != one
    return logits.masked_fill(other & (one >= 0), float("-inf"))


def _tokens(tokens: Sequence[int], start: Tensor) -> Tensor:
    return torch.tensor(tokens, dtype=torch.long, device=start.device)
