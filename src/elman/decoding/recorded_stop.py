"""Stops that a recording can obey: tokens that end a row, and lengths."""

from __future__ import annotations

from dataclasses import dataclass

from elman.decoding.interfaces import Stop
from elman.decoding.stopping import AnyOf, AtLengths, AtTokens
from elman.shapes import Tensor


@dataclass(frozen=True)
class EndRule:
    """A row ends at any of these tokens, and after so many in any case (one tensor (B,) a rule)."""

    ends: tuple[int, ...] = ()
    lengths: tuple[Tensor, ...] = ()


def find_end_rule(stop: Stop) -> EndRule | str:
    """The stop as a rule; or why it is none."""
    if isinstance(stop, AtTokens):
        return EndRule(ends=stop.tokens)
    if isinstance(stop, AtLengths):
        return EndRule(lengths=(stop.lengths,))
    if not isinstance(stop, AnyOf):
        return f"{type(stop).__name__} decides in Python where a row ends"
    ends, lengths = tuple[int, ...](), tuple[Tensor, ...]()
    for part in stop.stops:
        rule = find_end_rule(part)
        if isinstance(rule, str):
            return rule
        ends, lengths = ends + rule.ends, lengths + rule.lengths
    return EndRule(ends, lengths)
