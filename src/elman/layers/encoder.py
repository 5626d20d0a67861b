"""A stack of recurrent layers with dropout between them."""

from __future__ import annotations

from collections.abc import Callable

from elman.cells import Dropout, Formulaic
from elman.layers.rnn import RNN, BiRNN, Layers


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
