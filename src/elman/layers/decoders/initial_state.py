"""Where a decoder begins: its first state, from what the encoder read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import torch
from torch import nn

from elman.cells import Cell, require_formula
from elman.errors import ModelError
from elman.kernels.large_products import linear_tanh
from elman.layers.encoder import EncoderOutput
from elman.layers.rnn import mean
from elman.shapes import Tensor
from elman.state import State, leaves, map_state

DecoderInit = Callable[[EncoderOutput], tuple[Any, ...]]
"""The first state of each layer of a decoder."""

Summary = Callable[[EncoderOutput], Tensor]


SUMMARIES: dict[str, Summary] = {"last": attrgetter("last"), "mean": EncoderOutput.mean}
"""c = g(h_{1:n}), by the names that configurations use."""


class ZeroInit(nn.Module):
    """s_0 = 0, whatever was read."""

    def __init__(self, cells: Sequence[Cell[Any]]) -> None:
        super().__init__()
        self._cells = tuple(cells)  # the decoder's: in a tuple, lest they become parameters here

    def forward(self, encoding: EncoderOutput) -> tuple[Any, ...]:
        return tuple(cell.initial(encoding.last) for cell in self._cells)


class CopyInit(nn.Module):
    """s_0 of each layer is the encoder's last state of that layer: h_0^dec = h_n^enc.

    Of an encoder in two directions it is the mean of both last states: the forward one after the last word and
    the backward one after the first.
    """

    def forward(self, encoding: EncoderOutput) -> tuple[Any, ...]:
        if encoding.final is None:
            raise ModelError("this encoder has no last state to copy; let a network transform")
        pairs = (type(state) is tuple for state in encoding.final)  # of two directions
        both = zip(encoding.final, pairs, strict=True)
        return tuple(map_state(mean, *state) if pair else state for state, pair in both)


class MeanInit(ZeroInit):
    """h_0 of each layer is the mean of the encoder's outputs, of two directions of both; the rest is 0."""

    def forward(self, encoding: EncoderOutput) -> tuple[Any, ...]:
        return tuple(self._first(cell, encoding.mean()) for cell in self._cells)

    def _first(self, cell: Cell[Any], summary: Tensor) -> State:
        cell = require_formula(cell)
        width = cell.widths[cell.formula.output]
        if summary.shape[1] not in (width, 2 * width):
            raise ModelError(
                f"the mean has {summary.shape[1]} features, which cannot be copied into a state of "
                f"{width}; let a network transform it"
            )
        h = summary.view(len(summary), -1, width).mean(1)
        return cell.initial(summary).replace(**{cell.formula.output: h})


class LearnedInit(nn.Module):
    """Every part of s_0 is tanh(W c + b) of its own, c = g(h_{1:n}): h_0^dec = NN(h_n^enc).

    Parts of a cell without a formula that are no vectors, such as a memory of several, begin as the cell says.
    """

    def __init__(self, cells: Sequence[Cell[Any]], size: int, summary: Summary) -> None:
        super().__init__()
        self.summary = summary
        self._cells = tuple(cells)  # the decoder's: in a tuple, lest they become parameters here
        blank = tuple(cell.initial(torch.zeros(1, 1)) for cell in cells)
        self._widths = [leaf.shape[1] for _, leaf in leaves(blank) if leaf.dim() == 2]
        self.W = nn.Linear(size, sum(self._widths))

    def forward(self, encoding: EncoderOutput) -> tuple[Any, ...]:
        values = linear_tanh(self.summary(encoding), self.W.weight, self.W.bias)
        parts = iter(torch.split(values, self._widths, -1))
        blank = tuple(cell.initial(values) for cell in self._cells)
        return map_state(lambda leaf: next(parts) if leaf.dim() == 2 else leaf, blank)
