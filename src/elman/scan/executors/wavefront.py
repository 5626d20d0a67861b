"""Layers side by side: while one reads a piece of the sequences, the layer below reads the next piece.

A step waits for the step before it, and most of a GPU waits with it. Layers on streams of their own fill these
gaps; autograd goes back by the same streams. Where Python launches each kernel there is nothing to fill, so
this is for updates that are recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import nn

from elman.cells import Cell, Formulaic, PartScanner, Stacked
from elman.scan.execution import Execution, compute_dtype
from elman.scan.executors.choice import choose_executor
from elman.scan.executors.codegen import CODEGEN
from elman.scan.executors.torch_kernels import TORCH
from elman.shapes import Float, Tensor

# More of them overlap better, but each has its own products for the gradients of matrices.
_PIECES = 5


def worthwhile(cell: Stacked, xs: Tensor, execution: Execution) -> bool:
    """Does a stack have gaps to fill here? Kernels for whole sequences leave too few."""
    if not (execution.recorded and xs.is_cuda):
        return False
    plain = execution.lengths is None and not execution.reverse and execution.executor == "auto"
    if not plain or len(cell.layers) < 2 or not all(map(runs_stepwise, cell.layers)):
        return False
    # Where one layer goes step by step, all do: a kernel for a whole sequence would take all processors.
    parts = (part for layer in cell.layers for part in _find_formulas(layer))
    return any(choose_executor(part, execution).name == CODEGEN.name for part in parts)


def runs_stepwise(cell: Cell[Any]) -> bool:
    """Does it go step by step in float32, for want of a kernel of PyTorch's?"""
    return any(TORCH.unsupported_reason(part) is not None for part in _find_formulas(cell))


def _find_formulas(module: nn.Module) -> Iterator[Formulaic]:
    """The cells that are run as a whole, not those that they hold."""
    if isinstance(module, Formulaic):
        yield module
    else:
        for child in module.children():
            yield from _find_formulas(child)


def run_wavefront(
    cells: Sequence[Cell[Any]], xs: Float[Tensor, "B T D"], state: Sequence[Any], run: PartScanner
) -> tuple[Float[Tensor, "B T H"], tuple[Any, ...]]:
    """y_{1:n} of the last cell and s_n of each: what one after the other gives by ``run``, step by step."""
    front = _Front(cells, xs, state, run)
    for layer, piece in diagonals(len(cells), len(front.pieces)):
        front.advance(layer, piece)
    return front.join(), tuple(front.ends)


def diagonals(layers: int, pieces: int) -> Iterator[tuple[int, int]]:
    """All pairs of a layer and a piece, each after those it waits for.

    Pairs that can go together are neighbours, upper layers first: autograd comes back in the opposite order,
    and so begins a lower layer before it has queued more work above.
    """
    for front in range(layers + pieces - 1):
        for layer in reversed(range(layers)):
            if 0 <= front - layer < pieces:
                yield layer, front - layer


class _Front:
    """How far each layer has come: pieces of the sequences, as the layer that read them last wrote them."""

    def __init__(self, cells: Sequence[Cell[Any]], xs: Tensor, state: Sequence[Any], run: PartScanner) -> None:
        self.cells, self.ends, self.run = list(cells), list(state), run
        self.pieces = list(xs.chunk(_PIECES, 1))
        self.streams = _streams(xs.device, len(cells)) if xs.is_cuda else []
        if self.streams:
            self.ready = [torch.cuda.current_stream().record_event()] * len(self.pieces)

    def advance(self, layer: int, piece: int) -> None:
        """Let a layer read a piece."""
        with self._lane(layer, piece) as xs:
            cell = self.cells[layer]
            if piece == 0:  # what is made of weights is made once
                cell = self.cells[layer] = cell.freeze(compute_dtype(next(cell.parameters())))
            self.pieces[piece], self.ends[layer] = self.run(cell, xs, self.ends[layer])

    def join(self) -> Tensor:
        for i in range(len(self.pieces)):
            if self.streams:
                self._await(torch.cuda.current_stream(), i)
        # Time first in memory, as the layers wrote.
        return torch.cat([ys.transpose(0, 1) for ys in self.pieces]).transpose(0, 1)

    @contextmanager
    def _lane(self, layer: int, piece: int) -> Iterator[Tensor]:
        """The stream of the layer, and on it the piece."""
        if not self.streams:
            yield self.pieces[piece]
            return
        stream = self.streams[layer]
        self._await(stream, piece)
        with torch.cuda.stream(stream):
            yield self.pieces[piece]
            self.ready[piece] = stream.record_event()

    def _await(self, stream: torch.cuda.Stream, piece: int) -> None:
        """Let a stream wait for a piece, and keep its memory until that stream has read it."""
        stream.wait_event(self.ready[piece])
        self.pieces[piece].record_stream(stream)


@cache
def _streams(device: torch.device, count: int) -> list[torch.cuda.Stream]:
    return [torch.cuda.Stream(device) for _ in range(count)]  # type: ignore[no-untyped-call]
