"""A decoder with attention that writes: a token of each sequence at a time, without gradients.

What a step makes of the context is linear in the source, W c_i = Σ_j α_ij W h^e_j, and what it makes of a token
is known before: both are computed once, however many hypotheses look and write.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import torch

from elman.cells import Cell, Formulaic, Residual, WrappedCell
from elman.kernels.few_rows import linear_few
from elman.kernels.large_products import linear_large
from elman.layers.attention import Memory
from elman.layers.decoders.attention_decoder import AttentionDecoder, IdentityInput, formula_cell
from elman.layers.decoders.base import DecoderContext
from elman.layers.embedding import Embedding
from elman.scan.single_step import step_gates
from elman.shapes import Float, Int, Tensor
from elman.state import State

_TABLE = 2**26  # numbers of a table for all tokens


class CutMatrices(NamedTuple):
    """Matrices of a decoder, cut into what multiplies at each step; None where nothing does."""

    readout: Tensor
    output: Tensor | None
    below: Tensor | None


class InferenceDecoder:
    """`StepWeights` of a decoder that does not change, its matrices cut into what multiplies at each step."""

    def __init__(self, decoder: AttentionDecoder, cut: CutMatrices | None = None) -> None:
        self.decoder = decoder
        self.cells = [freeze_cell(cell) for cell in decoder.layers]
        self.cut = cut_matrices(decoder, self.cells) if cut is None else cut
        self._bias, k = decoder.readout.W.bias, decoder.attention_layer
        self._bias_below = formula_cell(self.cells[k]).affine()[1] if k < len(self.cells) else None

    @cached_property
    def W_c(self) -> Tensor:
        """All that multiplies the context."""
        top, k = self.decoder.readout.W, self.decoder.attention_layer
        reads = [top.weight, *(formula_cell(cell).affine()[0] for cell in self.cells[k : k + 1])]
        wide = top.in_features - self.cells[-1].output_size
        return torch.cat([W[:, -wide:] for W in reads])

    def begin(self, context: DecoderContext) -> DecoderContext:
        """The same sources as the steps look at them."""
        memory = cast(Memory, context.source)
        return context._replace(source=memory._replace(values=linear_large(memory.values, self.W_c)))

    def project_output(self, o: Tensor) -> Tensor:
        return linear_few(o, cast(Tensor, self.cut.output))

    def project_below(self, h: Tensor) -> Tensor:
        return linear_few(h, cast(Tensor, self.cut.below), self._bias_below)

    def project_context(self, c: Tensor) -> Tensor:
        return c[:, self.decoder.output_size :]

    def readout(self, h: Tensor, c: Tensor) -> Tensor:
        return torch.tanh(linear_few(h, self.cut.readout, self._bias) + c[:, : self.decoder.output_size])


def cut_matrices(decoder: AttentionDecoder, cells: Sequence[Cell[Any]]) -> CutMatrices:
    """Copies of parts of its weights."""
    top, k, size = decoder.readout.W, decoder.attention_layer, cells[-1].output_size
    output = below = None
    if decoder.input_feeding:
        output = formula_cell(cells[0]).affine()[0][:, -decoder.output_size :].contiguous()
    if k < len(cells):
        below = formula_cell(cells[k]).affine()[0][:, : size - top.in_features].contiguous()
    return CutMatrices(top.weight[:, :size].contiguous(), output, below)


def freeze_cell(cell: Cell[Any]) -> Cell[Any]:
    """The cell of a layer without its dropout, for steps without gradients."""
    if isinstance(cell, Residual):
        return Residual(freeze_cell(cell.cell))
    bare = formula_cell(cell)
    if isinstance(bare, IdentityInput):
        return bare.cell
    return bare if bare.mixes_input else FrozenCell(bare)


def step_cells(
    cells: Sequence[Cell[Any]], states: Sequence[Any], x: Float[Tensor, "N D"]
) -> tuple[tuple[Any, ...], Float[Tensor, "N H"]]:
    """One step of cells on top of each other: their states, and the output of the last."""
    new = []
    for cell, state in zip(cells, states, strict=True):
        new.append(cell.step(state, cell.project(x)))
        x = cell.output(new[-1])
    return tuple(new), x


class FrozenCell(WrappedCell):
    """A formula cell that steps without gradients."""

    def __init__(self, cell: Formulaic) -> None:
        super().__init__(cell, cell.formula)

    def step(self, state: State, x: tuple[Tensor, ...]) -> State:
        return step_gates(self.cell, state, x) or super().step(state, x)

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        if self.heads > 1:
            return super().multiply(number, operand)
        return linear_few(operand, self.matrices()[number])


class TokenProjections:
    """W_x x + b of the tokens that a decoder reads: on a CPU each is computed when it is first asked for, on a
    GPU all of them at first, unless they are too many."""

    def __init__(self, embedding: Embedding, decoder: AttentionDecoder) -> None:
        W, self.b = formula_cell(decoder.layers[0]).affine()
        self.embedding, self.W = embedding, W[:, : embedding.output_size].contiguous()
        self.known = torch.zeros(len(embedding.E.weight), dtype=torch.bool)
        on_cpu = self.W.device.type == "cpu"
        # Memory that nothing is written to is none.
        self.rows = W.new_empty(len(self.known) if on_cpu else 0, len(W))
        if not on_cpu and len(self.known) * len(W) <= _TABLE:
            self.rows = self._project(torch.arange(len(self.known), device=W.device))

    @property
    def parts(self) -> tuple[Tensor, Tensor]:
        """The rows of all tokens, or none where each is computed when it is asked for; and W_x."""
        return self.rows[:0] if self.rows.device.type == "cpu" else self.rows, self.W

    def __call__(self, tokens: Int[Tensor, " N"]) -> Float[Tensor, "N G"]:
        if not len(self.rows):
            return self._project(tokens)
        if self.rows.device.type != "cpu":
            return self.rows.index_select(0, tokens)
        new = torch.unique(tokens[~self.known[tokens]])
        if len(new):
            self.rows[new] = self._project(new).to(self.rows.dtype)
            self.known[new] = True
        return self.rows[tokens]

    def _project(self, tokens: Tensor) -> Tensor:
        return linear_few(self.embedding(tokens[None])[0], self.W, self.b)
