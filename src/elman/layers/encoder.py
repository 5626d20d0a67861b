"""Encoders: what turns a sequence of vectors into outputs that others look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import nn

from elman.cells import Dropout, Formulaic
from elman.errors import ModelError
from elman.layers.pooling import Mean
from elman.layers.rnn import RNN, BiRNN, Layers, concat, last
from elman.shapes import Bool, Float, Tensor


def recurrent(
    cell: Callable[[int, int], Formulaic],
    sizes: tuple[int, int],
    *,
    layers: int,
    bidirectional: bool,
    dropout: float,
) -> Layers:
    """``layers`` layers of ``cell``; ``sizes`` are the features read and the units of each direction.

    Every layer's outputs are dropped with one mask per sequence, the last one's too.
    """
    width, hidden = sizes
    stack: list[RNN | BiRNN] = []
    for _ in range(layers):
        make = [Dropout(cell(width, hidden), dropout) for _ in range(1 + bidirectional)]
        stack.append(BiRNN(*make) if bidirectional else RNN(*make))
        width = stack[-1].output_size
    return Layers(stack)


class Encoding(NamedTuple):
    """A batch of sequences that were read."""

    ys: Float[Tensor, "B S E"]
    mask: Bool[Tensor, "B S"]
    last: Float[Tensor, "B E"]  # y_n; of two directions that of the last word and that of the first
    final: tuple[Any, ...] | None  # the last states of each layer, where there are states

    def mean(self) -> Float[Tensor, "B E"]:
        """The mean of the outputs."""
        mean: Tensor = Mean()(self.ys, self.mask)
        return mean


@runtime_checkable
class Encoder(Protocol):
    """Any network that reads a sequence: recurrent, convolutional, a Transformer."""

    output_size: int

    def __call__(self, xs: Tensor, mask: Tensor) -> Encoding:
        """The outputs at each position, and what sums them up."""


class RecurrentEncoder(nn.Module):
    """h_{1:n} of a stack of recurrent layers, in one direction or two."""

    def __init__(self, layers: Layers) -> None:
        super().__init__()
        top = layers.stack[-1]
        if isinstance(top, BiRNN) and top.merge is not concat:
            raise ModelError("the two directions of an encoder's last layer must be concatenated")
        self.layers = layers
        self.output_size = layers.output_size

    def forward(self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Encoding:
        ys, final = self.layers(xs, mask)
        top = self.layers.stack[-1]
        if isinstance(top, RNN):
            return Encoding(ys, mask, last(ys, mask), final)
        ahead, back = ys.split([top.ahead.output_size, top.back.output_size], -1)
        both = concat(last(ahead, mask), last(back, mask, reverse=True))
        return Encoding(ys, mask, both, final)


class StatelessEncoder(nn.Module):
    """An encoder without a recurrence; ``net`` gives (B, S, E) from vectors and their mask."""

    def __init__(self, net: nn.Module, output_size: int) -> None:
        super().__init__()
        self.net, self.output_size = net, output_size

    def forward(self, xs: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Encoding:
        ys = self.net(xs, mask)
        return Encoding(ys, mask, last(ys, mask), None)
