"""The step of a decoder with attention: said once, for training, search and streaming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from elman.cells import Cell, Formulaic, OutputWrapper, RecordedCell, Residual, Stacked
from elman.kernels.large_products import linear_large
from elman.layers.attention import Attention, Memory
from elman.layers.decoders.base import DecoderContext, DecoderOutput, Readout, RecurrentDecoder
from elman.layers.decoders.initial_state import DecoderInit
from elman.layers.encoder import EncoderOutput
from elman.scan.execution import compute_dtype
from elman.shapes import Float, Tensor
from elman.state import State


@runtime_checkable
class StepWeights(Protocol):
    """The cells of a step and its products with matrices, as they are trained or laid out for search."""

    @property
    def cells(self) -> Sequence[Cell[Any]]:
        """One a layer, with masks drawn."""

    def project_output(self, o: Tensor) -> Tensor:
        """What the first layer makes of the output before."""

    def project_below(self, h: Tensor) -> Tensor:
        """What the layer that reads the context makes of the layer below, with its bias."""

    def project_context(self, c: Tensor) -> Tensor:
        """What the layer that reads the context makes of it."""

    def readout(self, h: Tensor, c: Tensor) -> Tensor:
        """o = tanh(W [h; c])."""


class AttentionDecoder(RecurrentDecoder):
    """Attention is scored with the layer below ``attention_layer``, which reads what is found."""

    input_feeding = False  # whether the first layer reads what the softmax read at the step before

    @property
    def attention_layer(self) -> int:
        """As many as there are layers where none reads it, and the top one is scored."""
        return len(self.layers)

    def __init__(
        self, *stacks: Stacked, initial_state: DecoderInit, attention: Attention, readout: Readout
    ) -> None:
        super().__init__(*stacks, initial_state=initial_state)
        self.attention, self.readout = attention, readout
        self.output_size = readout.W.out_features

    def look(self, encoded: EncoderOutput) -> Memory:
        return self.attention.remember(encoded.ys, encoded.mask)

    def step(
        self, weights: StepWeights, context: DecoderContext, state: State, x: Float[Tensor, "N G"]
    ) -> tuple[State, Float[Tensor, "N O"], Float[Tensor, "N S"]]:
        """s_i, o_i and α_i from s_{i-1} and W_x x_i + b."""
        cells = weights.cells
        h, new = cells[-1].output(state.cells[-1]), list[Any]()
        if self.input_feeding:
            x = x + weights.project_output(state.o)
        for k, cell in enumerate(cells):
            if k == self.attention_layer:
                c, alpha = self._attend(h, context, state)
                gates = (weights.project_below(h) if k else x) + weights.project_context(c)
                inputs = formula_cell(cell).step_inputs(gates)
            else:
                inputs = cell.project(h) if k else formula_cell(cell).step_inputs(x)
            new.append(cell.step(state.cells[k], inputs))
            h = cell.output(new[-1])
        if self.attention_layer == len(cells):
            c, alpha = self._attend(h, context, state)
        o = weights.readout(h, c)
        fed = {"o": o} if self.input_feeding else {}
        return state.replace(cells=tuple(new), **fed), o, alpha

    def _attend(self, h: Tensor, context: DecoderContext, state: State) -> tuple[Tensor, Tensor]:
        c, alpha = self.look_back(h[:, None], context, state)
        return c[:, 0], alpha[:, 0]

    def look_back(
        self, hs: Float[Tensor, "N T H"], context: DecoderContext, state: State
    ) -> tuple[Float[Tensor, "N T E"], Float[Tensor, "N T S"]]:
        """What each state finds in its source, and where."""
        if each := context.group(len(hs)):  # sequences of a source side by side, like steps: nothing is copied
            steps = hs.shape[1]
            c, alpha = self.attention(hs.reshape(-1, each * steps, hs.shape[2]), context.source)
            return c.reshape(len(hs), steps, -1), alpha.reshape(len(hs), steps, -1)
        c, alpha = self.attention(hs, context.source, context.rows_of(state))
        return c, alpha

    def unroll(self, context: DecoderContext, state: State, xs: Float[Tensor, "B T D"]) -> DecoderOutput:
        """One step after the other; what is known of all tokens is computed before them."""
        cells = [cell for stack in context.stacks for cell in stack.layers]
        weights = TrainedWeights(self, cells, xs.shape[2])
        os, alphas = [], []
        for x in weights.project(xs).unbind(1):
            state, o, alpha = self.step(weights, context, state, x)
            os.append(o)
            alphas.append(alpha)
        return DecoderOutput(state, torch.stack(os, 1), torch.stack(alphas, 1))


class TrainedWeights:
    """`StepWeights` as they are: W [x; c] = W_x x + W_c c, of which the first is known for all tokens.

    Autocast would convert parts of a matrix anew at every step: they are converted once here.
    """

    def __init__(self, decoder: AttentionDecoder, cells: Sequence[Cell[Any]], token_size: int) -> None:
        self.cells, self.readout = cells, decoder.readout
        W, self.b = _convert(self.cells[0])
        self.W, self.W_o = W[:, :token_size], W[:, token_size:]
        wide = decoder.readout.W.in_features - cells[-1].output_size
        if decoder.attention_layer < len(cells):
            W, self.b_below = _convert(self.cells[decoder.attention_layer])
            self.W_below, self.W_c = W[:, :-wide], W[:, -wide:]

    def project(self, xs: Float[Tensor, "B T D"]) -> Float[Tensor, "B T G"]:
        """W_x x + b of the first layer."""
        return linear_large(xs, self.W, self.b)

    def project_output(self, o: Tensor) -> Tensor:
        return linear_large(o, self.W_o)

    def project_below(self, h: Tensor) -> Tensor:
        return linear_large(h, self.W_below, self.b_below)

    def project_context(self, c: Tensor) -> Tensor:
        return linear_large(c, self.W_c)


def _convert(cell: Cell[Any]) -> tuple[Tensor, Tensor | None]:
    """W and b of a layer, in the precision that it computes in."""
    W, b = formula_cell(cell).affine()
    return W.to(compute_dtype(W)), b


def formula_cell(cell: Cell[Any]) -> Formulaic | IdentityInput:
    """The cell of a layer without its dropout, as what reads W x + b."""
    while isinstance(cell, OutputWrapper | RecordedCell | Residual):
        cell = cell.cell
    return cell if isinstance(cell, Formulaic) else IdentityInput(cell)


class IdentityInput:
    """A cell without a formula, as if it read W x + b: W is the identity, so [x; c] reaches it as it is."""

    def __init__(self, cell: Cell[Any]) -> None:
        self.cell = cell

    def affine(self) -> tuple[Tensor, None]:
        weight = next(self.cell.parameters(), torch.empty(0))
        return torch.eye(self.cell.input_size, dtype=weight.dtype, device=weight.device), None

    def step_inputs(self, gates: Tensor) -> Any:
        return self.cell.project(gates)
