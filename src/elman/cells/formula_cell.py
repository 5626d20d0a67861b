"""A cell from a formula: it owns the matrices, the formula says what to do with them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import cast

import torch
from torch import nn
from torch.nn.functional import linear

from elman.cells.cell import Cell
from elman.errors import ModelError
from elman.formula import Formula, Node, State, equations
from elman.formula.graph import topological
from elman.shapes import Tensor


class Formulaic(Cell[State]):
    """A cell whose R is a formula. Executors read it through these six things and nothing else:
    ``formula``, ``widths``, ``project``, ``affine``, ``matrices`` and ``units``."""

    formula: Formula
    widths: Mapping[str, int]  # of each gate, each state and each further matrix, by name

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
        """The recurrent matrix of each product: (its results side by side, width of its operand)."""

    @abstractmethod
    def units(self) -> Sequence[Tensor]:
        """The per-unit parameters (H,), in the order of the formula's names."""

    def initial(self, like: Tensor) -> State:
        rows = like.shape[0]
        return State(**{n: like.new_zeros(rows, self.widths[n]) for n in self.formula.states})

    def step(self, state: State, x: tuple[Tensor, ...]) -> State:
        gates, *masks = x
        each = torch.split(gates, [self.widths[g] for g in self.formula.gates], dim=-1)
        return self.formula(each, _Products(self), state, self.units(), masks)

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        """The operand of a product times its recurrent matrix, in ``step``."""
        return linear(operand, self.matrices()[number])

    def settled(self, dtype: torch.dtype) -> Formulaic:
        return GivenMatrices(self, [matrix.to(dtype) for matrix in self.matrices()])

    def output(self, state: State) -> Tensor:
        return cast(Tensor, getattr(state, self.formula.output))

    def equations(self) -> list[str]:
        """The formula, typeset in Unicode."""
        return equations(self.formula)


class _Products:
    """The ``U`` of a formula on tensors: matrices that multiply the same vector do so in one product."""

    def __init__(self, cell: Formulaic) -> None:
        self._cell = cell
        self._results: dict[str, Tensor] = {}

    def __getattr__(self, name: str) -> Callable[[Tensor], Tensor]:
        def multiply(operand: Tensor) -> Tensor:
            if name not in self._results:
                self._multiply(name, operand)
            return self._results[name]

        return multiply

    def _multiply(self, name: str, operand: Tensor) -> None:
        cell = self._cell
        for number, product in enumerate(cell.formula.trace.products):
            if name in product.names:
                widths = [cell.widths[n] for n in product.names]
                parts = torch.split(cell.multiply(number, operand), widths, dim=-1)
                self._results.update(zip(product.names, parts, strict=True))


class Around(Formulaic):
    """A formula cell around another: everything is the inner cell's, unless a subclass says otherwise."""

    cell: Formulaic

    def __init__(self, cell: Formulaic, formula: Formula) -> None:
        super().__init__()
        self.cell, self.formula, self.widths = cell, formula, cell.widths
        self.input_size, self.output_size = cell.input_size, cell.output_size

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.cell.project(x)

    def affine(self) -> tuple[Tensor, Tensor | None]:
        return self.cell.affine()

    def matrices(self) -> Sequence[Tensor]:
        return self.cell.matrices()

    def units(self) -> Sequence[Tensor]:
        return self.cell.units()


class GivenMatrices(Around):
    """A formula cell with these recurrent matrices instead of its own."""

    def __init__(self, cell: Formulaic, matrices: Sequence[Tensor]) -> None:
        super().__init__(cell, cell.formula)
        self._matrices = matrices

    def matrices(self) -> Sequence[Tensor]:
        return self._matrices


class FormulaCell(Formulaic):
    """A cell with parameters of its own: W x + b for the gates, a matrix U for each product.

    ``bias`` gives every gate one bias (not two, as torch and cuDNN have). ``widths`` says which states
    and further matrices are not ``hidden_size`` wide. Initialisation: W Glorot uniform, U orthogonal gate
    by gate (``orthogonal=False``: uniform in ±1/√H), biases zero, per-unit parameters as the formula says.
    """

    def __init__(
        self,
        formula: Formula,
        input_size: int,
        hidden_size: int,
        *,
        bias: bool = True,
        orthogonal: bool = True,
        widths: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        gates, free = formula.gates, (*formula.states, *formula.matrices)
        unknown = set(widths or {}) - set(free)
        if unknown:
            raise ModelError(
                f"{formula.name} has no state {min(unknown)!r}; it has {', '.join(free)}"
            )
        self.widths = {**dict.fromkeys(formula.results, hidden_size), **(widths or {})}
        if min(input_size, *self.widths.values()) < 1:
            raise ModelError(f"sizes must be positive, got {input_size} and {hidden_size}")
        self.formula, self.input_size = formula, input_size
        self.output_size = self.widths[formula.output]
        self.W = nn.Parameter(torch.empty(len(gates) * hidden_size, input_size))
        self.b = nn.Parameter(torch.zeros(len(gates) * hidden_size)) if bias else None
        self.U = nn.ParameterList(torch.empty(shape) for shape in self._shapes())
        first = formula.parameters.values()
        self.p = nn.ParameterList(torch.full((hidden_size,), value) for value in first)
        for block in self.W.data.chunk(len(gates)):
            nn.init.xavier_uniform_(block)
        for product, matrix in zip(formula.trace.products, self.U, strict=True):
            for block in matrix.data.split([self.widths[n] for n in product.names]):
                if orthogonal:
                    nn.init.orthogonal_(block)
                else:
                    nn.init.uniform_(block, -(hidden_size**-0.5), hidden_size**-0.5)

    def _shapes(self) -> list[tuple[int, int]]:
        def width(a: Node) -> int:
            """Of an operand: pointwise, so that of any input, product or state in it."""
            parts = [i.args for i in topological([a]) if i.op == "input"]
            return next(self.widths[name] for kind, name in parts if kind in "xrs")

        return [
            (sum(self.widths[n] for n in product.names), width(product.operand))
            for product in self.formula.trace.products
        ]

    def start_bias(self, gate: str, value: float) -> None:
        """Let the bias of ``gate`` start at ``value``; a cell without biases has nothing to start."""
        if gate not in self.formula.gates:
            raise ModelError(
                f"{self.formula.name} has no gate {gate!r}; it has {', '.join(self.formula.gates)}"
            )
        if self.b is not None:
            blocks = self.b.data.chunk(len(self.formula.gates))
            nn.init.constant_(blocks[self.formula.gates.index(gate)], value)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        return (linear(x, self.W, self.b),)

    def affine(self) -> tuple[Tensor, Tensor | None]:
        return self.W, self.b

    def matrices(self) -> Sequence[Tensor]:
        return list(self.U)

    def units(self) -> Sequence[Tensor]:
        return list(self.p)

    def equations(self) -> list[str]:
        return equations(self.formula, bias=self.b is not None)

    def extra_repr(self) -> str:
        states = ", ".join(f"{n}={self.widths[n]}" for n in self.formula.states)
        return f"{self.input_size} -> {states}"


def parameter_count(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
