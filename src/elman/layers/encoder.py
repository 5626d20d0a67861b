"""Encoders: what turns a sequence of vectors into outputs that others look at."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

from torch import nn

from elman.cells import Cell, CellMaker, Dropout, Residual, stack_cells
from elman.errors import ModelError
from elman.layers.pooling import MeanPooling
from elman.layers.rnn import RNN, BiRNN, StackedRNN, concat, select_last
from elman.shapes import Bool, Float, Tensor


def build_stacked_rnn(
    cell: CellMaker,
    sizes: tuple[int, int],
    *,
    layers: int,
    bidirectional: bool,
    dropout: float,
    residual: bool = False,
) -> RNN | StackedRNN:
    """``layers`` layers of ``cell``; ``sizes`` are the features read and the units of each direction.

    Every layer's outputs are dropped with one mask per sequence, the last one's too.
    """
    width, hidden = sizes
    if not bidirectional:
        cells: list[Cell[Any]] = []
        for _ in range(layers):
            cells.append(cell(width, hidden))
            width = cells[-1].output_size
        return RNN(stack_cells(cells, [dropout] * layers, residual=residual))
    stack: list[RNN | BiRNN] = []
    for _ in range(layers):
        both = [Dropout(cell(width, hidden), dropout) for _ in range(2)]
        stack.append(BiRNN(*both))
        width = stack[-1].output_size
    return StackedRNN(stack, residual=residual)


class EncoderOutput(NamedTuple):
    """A batch of sequences that were read."""

    ys: Float[Tensor, "B S E"]
    mask: Bool[Tensor, "B S"]
    last: Float[Tensor, "B E"]  # y_n; of two directions that of the last word and that of the first
    final: tuple[Any, ...] | None  # the last states of each layer, where there are states

    def mean(self) -> Float[Tensor, "B E"]:
        """The mean of the outputs."""
        return cast(Tensor, MeanPooling()(self.ys, self.mask))


@runtime_checkable
class Encoder(Protocol):
    """Any network that reads a sequence: recurrent, convolutional, a Transformer."""

    output_size: int

    def __call__(self, xs: Tensor, mask: Tensor) -> EncoderOutput:
        """The outputs at each position, and what sums them up."""


class RecurrentEncoder(nn.Module):
    """h_{1:n} of a stack of recurrent layers, in one direction or two."""

    def __init__(self, layers: RNN | StackedRNN) -> None:
        super().__init__()
        top = layers.stack[-1]
        if isinstance(top, BiRNN) and top.merge is not concat:
            raise ModelError("the two directions of an encoder's last layer must be concatenated")
        self.layers = layers
        self.output_size = layers.output_size

    def forward(self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> EncoderOutput:
        ys, final = self.layers(xs, mask)
        stack = self.layers.stack
        inner = tuple(  # without what a residual connection remembers beside the state of a cell
            state.inner if isinstance(layer, RNN) and isinstance(layer.cell, Residual) else state
            for layer, state in zip(stack, final, strict=True)
        )
        return EncoderOutput(ys, mask, stack[-1].select_end(ys, mask), inner)


class StatelessEncoder(nn.Module):
    """An encoder without a recurrence; ``net`` gives (B, S, E) from vectors and their mask."""

    def __init__(self, net: nn.Module, output_size: int) -> None:
        super().__init__()
        self.net, self.output_size = net, output_size

    def forward(self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> EncoderOutput:
        ys = self.net(xs, mask)
        return EncoderOutput(ys, mask, select_last(ys, mask), None)
