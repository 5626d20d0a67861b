"""What every decoder is: it begins before some sources, and goes on from token to token."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, cast

import torch
from torch import nn

from elman.cells import Cell, Residual, Stacked
from elman.kernels.large_products import linear_tanh
from elman.layers.decoders.initial_state import DecoderInit
from elman.layers.encoder import EncoderOutput
from elman.shapes import Float, Tensor
from elman.state import State


class DecoderOutput(NamedTuple):
    """What a decoder says after each token that it read."""

    state: State
    os: Float[Tensor, "B T O"]
    weights: Float[Tensor, "B T S"] | None  # over the source, where there is attention


class DecoderContext(NamedTuple):
    """One batch of sources before a decoder: what lasts as long as they are written about."""

    source: Any  # a memory, a summary, or nothing: one row a source
    stacks: tuple[Stacked, ...]  # the decoder's, with their masks drawn
    rows: Tensor  # all sources, in order
    # The most sequences about one source, which stand in order of their sources; 0: nobody knows.
    most: int = 0

    def group(self, count: int) -> int:
        """How many of so many sequences each source has in succession; 0 where that is not the same for all."""
        return self.most if count == self.most * len(self.rows) else 0

    def rows_of(self, state: State) -> Tensor | None:
        """The source of each sequence; None where they are all of them in order, and none must be copied."""
        if state.row is self.rows:
            return None
        if not state.row.is_cuda and torch.equal(state.row, self.rows):  # a GPU would have to wait
            return None
        return cast(Tensor, state.row)


class Decoder(nn.Module, ABC):
    """A state holds those of its cells and, in ``row``, the source of each sequence."""

    output_size: int

    @abstractmethod
    def begin(self, encoded: EncoderOutput) -> tuple[DecoderContext, State]:
        """Turn to some sources, and the state before anything is written, one row for each."""

    @abstractmethod
    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        """What the decoder says after each of some given tokens, and the state after the last."""

    def redraw(self, context: DecoderContext, like: Tensor) -> DecoderContext:
        """The same sources with random masks for as many sequences as ``like`` (B, ...) has rows."""
        return context


class RecurrentDecoder(Decoder):
    """Cells in one stack, or in two with something between them; they begin where ``initial_state`` says."""

    def __init__(self, *stacks: Stacked, initial_state: DecoderInit) -> None:
        super().__init__()
        self.stacks, self.initial_state = nn.ModuleList(stacks), initial_state

    @property
    def layers(self) -> list[Cell[Any]]:
        """The cells of all stacks, the lowest first."""
        return [cell for stack in cast("list[Stacked]", list(self.stacks)) for cell in stack.layers]

    def begin(self, encoded: EncoderOutput) -> tuple[DecoderContext, State]:
        rows = torch.arange(len(encoded.mask), device=encoded.mask.device)
        context = self.redraw(DecoderContext(None, (), rows), encoded.last)
        first = tuple(
            cell.around(state, encoded.last) if isinstance(cell, Residual) else state
            for cell, state in zip(self.layers, self.initial_state(encoded), strict=True)
        )
        return context._replace(source=self.look(encoded)), State(cells=first, row=rows)

    def redraw(self, context: DecoderContext, like: Tensor) -> DecoderContext:
        stacks = cast("list[Stacked]", list(self.stacks))
        return context._replace(stacks=tuple(stack.sample_masks(like) for stack in stacks))

    def look(self, encoded: EncoderOutput) -> Any:
        """What it sees of the sources; nothing, unless said otherwise."""
        return None


class Readout(nn.Module):
    """o = tanh(W [h; c])."""

    def __init__(self, size: int, context: int, output_size: int) -> None:
        super().__init__()
        self.W = nn.Linear(size + context, output_size)

    def forward(self, h: Float[Tensor, "*N H"], c: Float[Tensor, "*N E"]) -> Float[Tensor, "*N O"]:
        return linear_tanh(torch.cat([h, c.to(h.dtype)], -1), self.W.weight, self.W.bias)
