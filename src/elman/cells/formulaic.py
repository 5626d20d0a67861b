"""What executors know of a cell with a formula, and such cells around others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch.nn.functional import linear

from elman.cells.cell import Cell
from elman.formula import Formula, State, equations, typeset
from elman.shapes import Tensor


class Formulaic(Cell[State]):
    """A cell whose R is a formula. Executors read it through these seven things and nothing else:
    ``formula``, ``widths``, ``heads``, ``project``, ``affine``, ``matrices`` and ``unit_parameters``."""

    formula: Formula
    widths: Mapping[str, int]  # of each gate, each state and each further matrix, by name
    heads: int = 1  # of block-diagonal recurrent matrices
    mixes_input: bool = False  # whether W multiplies within the step: there is no `step_inputs`

    @abstractmethod
    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """All gates of x side by side (…, G·H), then the formula's masks, each as wide as its state.

        The tensors are made anew at each call: an executor may overwrite them.
        """

    @abstractmethod
    def affine(self) -> tuple[Tensor, Tensor | None]:
        """The W and b of ``project``, for kernels that multiply by W themselves."""

    @abstractmethod
    def matrices(self) -> Sequence[Tensor]:
        """The recurrent matrix of each product: (its results side by side, width of its operand), or the
        blocks of its heads, each from its part of the operand to its part of each result (n, G·H/n, V/n)."""

    @abstractmethod
    def unit_parameters(self) -> Sequence[Tensor]:
        """The per-unit parameters (H,), in the order of the formula's names."""

    def step_inputs(self, gates: Tensor) -> tuple[Tensor, ...]:
        """What ``step`` reads where W x + b is known already: the gates, then the formula's masks."""
        return (gates,)

    def initial(self, like: Tensor) -> State:
        names, rows = self.formula.states, like.shape[0]
        widths = {self.widths[n] for n in names}
        if like.is_cuda and len(widths) == 1:  # in one piece: each would be a launch
            return State(**dict(zip(names, like.new_zeros(len(names), rows, *widths), strict=True)))
        return State(**{n: like.new_zeros(rows, self.widths[n]) for n in names})

    def step(self, state: State, x: tuple[Tensor, ...]) -> State:
        gates, *masks = x
        each = torch.split(gates, [self.widths[g] for g in self.formula.gates], dim=-1)
        results: dict[str, Tensor] = {}

        def multiply(name: str, operand: Tensor) -> Tensor:
            """Matrices that multiply the same vector do so in one product."""
            if name not in results:
                products = enumerate(self.formula.trace.products)
                number, names = next((k, product.names) for k, product in products if name in product.names)
                parts = torch.split(self.multiply(number, operand), [self.widths[n] for n in names], dim=-1)
                results.update(zip(names, parts, strict=True))
            return results[name]

        return self.formula(each, multiply, state, self.unit_parameters(), masks)

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        """The operand of a product times its recurrent matrix, in ``step``."""
        matrix = self.matrices()[number]
        if self.heads == 1:
            return linear(operand, matrix)
        return multiply_heads(operand, matrix, len(self.formula.trace.products[number].names))

    def freeze(self, dtype: torch.dtype) -> Formulaic:
        return GivenWeights(self, [matrix.to(dtype) for matrix in self.matrices()])

    def output(self, state: State) -> Tensor:
        return cast(Tensor, getattr(state, self.formula.output))

    def equations(self) -> list[str]:
        """The formula, typeset in Unicode."""
        blocks = [f"U = diag(U^1, …, U^{self.heads})"] if self.heads > 1 else []
        return [*equations(self.formula, bias=self.affine()[1] is not None), *blocks]

    def _repr_latex_(self) -> str:
        return typeset(self.formula, bias=self.affine()[1] is not None)


class WrappedCell(Formulaic):
    """A formula cell around another: everything is the inner cell's, unless a subclass says otherwise."""

    cell: Formulaic

    def __init__(self, cell: Formulaic, formula: Formula) -> None:
        super().__init__()
        self.cell, self.formula, self.widths, self.heads = cell, formula, cell.widths, cell.heads
        self.mixes_input = cell.mixes_input
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.cell.project(x)

    def step_inputs(self, gates: Tensor) -> tuple[Tensor, ...]:
        return self.cell.step_inputs(gates)

    def affine(self) -> tuple[Tensor, Tensor | None]:
        return self.cell.affine()

    def matrices(self) -> Sequence[Tensor]:
        return self.cell.matrices()

    def unit_parameters(self) -> Sequence[Tensor]:
        return self.cell.unit_parameters()


class GivenWeights(WrappedCell):
    """A formula cell with these recurrent matrices, and these per-unit parameters, instead of its own."""

    def __init__(
        self, cell: Formulaic, matrices: Sequence[Tensor], units: Sequence[Tensor] | None = None
    ) -> None:
        super().__init__(cell, cell.formula)
        self._matrices = matrices
        self._units = cell.unit_parameters() if units is None else units

    def matrices(self) -> Sequence[Tensor]:
        return self._matrices

    def unit_parameters(self) -> Sequence[Tensor]:
        return self._units


def multiply_heads(v: Tensor, U: Tensor, results: int) -> Tensor:
    """v (N, V) times all blocks in one batched product: the results side by side (N, G·H)."""
    parts = torch.bmm(split_heads(v, len(U)), U.transpose(1, 2))
    return join_heads(parts, results)


def split_heads(rows: Tensor, heads: int, results: int = 1) -> Tensor:
    """(N, G·H) to (n, N, G·H/n)"""
    each = rows.reshape(len(rows), results, heads, -1).permute(2, 0, 1, 3)
    return each.flatten(2)


def join_heads(parts: Tensor, results: int = 1) -> Tensor:
    """(n, N, G·H/n) to (N, G·H)"""
    heads, rows, _ = parts.shape
    return parts.reshape(heads, rows, results, -1).permute(1, 2, 0, 3).flatten(1)
