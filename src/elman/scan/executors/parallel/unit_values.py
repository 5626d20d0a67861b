"""What the programs of a recurrence of single units are given, and what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from elman.shapes import Float, Int, Tensor


class UnitInputs(NamedTuple):
    """Row i of the batch has the tokens from ``starts[i]`` to ``starts[i + 1]``, in the order of the text."""

    X: Float[Tensor, "N G"]  # all gates of each token side by side
    state: Sequence[Tensor]  # (B, H) each
    units: Sequence[Tensor]  # per-unit parameters, (H,) each
    masks: Sequence[Tensor]  # of zoneout, (N, H) each
    starts: Int[Tensor, " rows"]
    steps: int  # that no row exceeds
    reverse: bool


class UnitResults(NamedTuple):
    Y: Tensor  # the output at each token
    final: Sequence[Tensor]
    kept: Mapping[str, Tensor]  # further states at each token, for the way back


class UnitGradients(NamedTuple):
    X: Tensor
    state: Sequence[Tensor]
    units: Sequence[Tensor]
