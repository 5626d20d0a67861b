"""The recurrence every network here is made of: s_i = R(s_{i-1}, x_i), y_i = O(s_i)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import torch
from torch import nn

from elman.shapes import Float, Tensor

S = TypeVar("S")


@runtime_checkable
class PartScanner(Protocol):
    """Runs a cell over whole sequences, the same way as the scan that a compound cell is part of."""

    def __call__(self, cell: Cell[Any], xs: Tensor, state: Any) -> tuple[Tensor, Any]:
        """y_{1:n} and s_n from x_{1:n} and s_0."""

    def spread(self, rows: Tensor) -> Tensor:
        """What is given for each sequence (B, H), so that it can be multiplied with outputs."""

    def last(self, ys: Tensor, before: Tensor) -> Tensor:
        """The row of ``ys`` at each sequence's last step; ``before`` (B, H) where it has none."""


class Cell(nn.Module, ABC, Generic[S]):
    """One step of a recurrence. R is split in two so that its input half runs once per sequence."""

    input_size: int
    output_size: int

    @abstractmethod
    def initial(self, like: Tensor) -> S:
        """s_0 for the rows of ``like`` (B, ...), on its device and in its dtype."""

    @abstractmethod
    def project(self, x: Tensor) -> Any:
        """The part of R that sees only x, for one step (B, D) or for all of them (B, T, D)."""

    @abstractmethod
    def step(self, state: S, x: Any) -> S:
        """The part of R that sees the state: s_i from s_{i-1} and the projected x_i."""

    @abstractmethod
    def output(self, state: S) -> Tensor:
        """O: y_i from s_i."""

    def sample_masks(self, like: Tensor) -> Cell[S]:
        """This cell with its random masks drawn for one batch of sequences; itself where nothing is random."""
        return self

    def freeze(self, dtype: torch.dtype) -> Cell[S]:
        """This cell for running over a sequence piece by piece: what is derived from its weights is computed
        once, in that precision."""
        return self

    def scan_parts(self, xs: Tensor, state: S, run: PartScanner) -> tuple[Tensor, S] | None:
        """How a compound runs over whole sequences by running its parts; None if it has no better way
        than one step after the other."""
        return None

    def forward(self, state: S, x: Float[Tensor, "B D"]) -> tuple[S, Tensor]:
        """One step: s_i and y_i from s_{i-1} and x_i."""
        state = self.step(state, self.project(x))
        return state, self.output(state)
