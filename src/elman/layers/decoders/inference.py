"""A decoder with attention that writes: a token of each sequence at a time, without gradients.

What a step makes of the context is linear in the source, W c_i = Σ_j α_ij W h^e_j, and what it makes of a token
is known before: both are computed once, however many hypotheses look and write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, cast

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


class InferenceDecoder:
    """`StepWeights` of a decoder that does not change, its matrices cut into what multiplies at each step."""

    def __init__(self, decoder: AttentionDecoder) -> None:
        self.decoder = decoder
        self.cells = [freeze_cell(cell) for cell in decoder.layers]
        first, top, k = self.cells[0], decoder.readout.W, decoder.attention_layer
        size = self.cells[-1].output_size
        self._readout = top.weight[:, :size].contiguous(), top.bias
        if decoder.input_feeding:
            W, _ = formula_cell(first).affine()
            self._output = W[:, -decoder.output_size :].contiguous()
        reads, wide = [top.weight], top.in_features - size
        if k < len(self.cells):
            W, b = formula_cell(self.cells[k]).affine()
            reads.append(W)
            self._below = W[:, :-wide].contiguous(), b
        self.W_c = torch.cat([W[:, -wide:] for W in reads])

    def begin(self, context: DecoderContext) -> DecoderContext:
        """The same sources as the steps look at them."""
        memory = cast(Memory, context.source)
        return context._replace(source=memory._replace(values=linear_large(memory.values, self.W_c)))

    def project_output(self, o: Tensor) -> Tensor:
        return linear_few(o, self._output)

    def project_below(self, h: Tensor) -> Tensor:
        return linear_few(h, *self._below)

    def project_context(self, c: Tensor) -> Tensor:
        return c[:, self.decoder.output_size :]

    def readout(self, h: Tensor, c: Tensor) -> Tensor:
        return torch.tanh(linear_few(h, *self._readout) + c[:, : self.decoder.output_size])


class LazyWriter:
    """The step of a decoder by `InferenceDecoder`, made when it is first asked for; on a GPU before that."""

    def __init__(self, decoder: AttentionDecoder, embedding: Embedding) -> None:
        self.decoder, self.embedding = decoder, embedding
        self._table = self._read_tokens() if embedding.E.weight.is_cuda else None

    @cached_property
    def weights(self) -> InferenceDecoder:
        return InferenceDecoder(self.decoder)

    def begin(self, context: DecoderContext) -> Callable[[State, Tensor], tuple[State, Tensor, Tensor]]:
        """s_i, o_i and α_i from s_{i-1} and a token of each sequence, before some sources."""
        known = [] if self._table is None else [(self.weights.begin(context), self._table)]

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Tensor, Tensor]:
            if not known:  # on a CPU what one thread computes, no other reads
                known.append((self.weights.begin(context), self._read_tokens()))
            session, inputs = known[0]
            return self.decoder.step(self.weights, session, state, inputs(tokens))

        return step

    def _read_tokens(self) -> TokenProjections:
        return TokenProjections(self.embedding, self.decoder)


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
