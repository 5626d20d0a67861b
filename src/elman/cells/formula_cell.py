"""A cell from a formula: it owns the matrices, the formula says what to do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from elman.cells.formulaic import Formulaic
from elman.errors import ArgumentError, ModelError, show_value
from elman.formula import Formula, Node
from elman.formula.traversal import topological
from elman.kernels.large_products import linear_large
from elman.kernels.mixed_products import is_mixed, linear_mixed
from elman.shapes import Tensor


class FormulaCell(Formulaic):
    """A cell with parameters of its own: W x + b for the gates, a matrix U for each product.

    ``bias`` gives every gate one bias (not two, as torch and cuDNN have). ``widths`` says which states
    and further matrices are not ``hidden_size`` wide. ``heads`` makes every U block-diagonal. Initialisation: W
    Glorot uniform, U orthogonal gate by gate and head by head (``orthogonal=False``: uniform in ±1/√H), biases
    zero, per-unit parameters as the formula says.
    """

    def __init__(
        self,
        formula: Formula,
        input_size: int,
        hidden_size: int,
        *,
        bias: bool = True,
        orthogonal: bool = True,
        heads: int = 1,
        widths: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
            if not isinstance(size, int) or size >= 2**31:
                raise ArgumentError(f"{name} is {show_value(size)}; it must be a whole number below 2^31")
        gates, free = formula.gates, (*formula.states, *formula.matrices)
        unknown = set(widths or {}) - set(free)
        if unknown:
            raise ModelError(f"{formula.name} has no state {min(unknown)!r}; it has {', '.join(free)}")
        self.widths = {**dict.fromkeys(formula.results, hidden_size), **(widths or {})}
        if min(input_size, *self.widths.values()) < 1:
            raise ModelError(f"sizes must be positive, got {input_size} and {hidden_size}")
        self.formula, self.input_size, self.heads = formula, input_size, heads
        self.output_size = self.widths[formula.output]
        self.W = nn.Parameter(torch.empty(len(gates) * hidden_size, input_size))
        self.b = nn.Parameter(torch.zeros(len(gates) * hidden_size)) if bias else None
        self.U = nn.ParameterList(torch.empty(shape) for shape in self._shapes())
        self.p = nn.ParameterList(torch.full((hidden_size,), first) for first in formula.parameters.values())
        for block in self.W.data.chunk(len(gates)):
            nn.init.xavier_uniform_(block)
        self._init_recurrence(orthogonal, hidden_size**-0.5)
        self.init_units()

    def init_units(self) -> None:
        """Where a cell wants other first values of biases and per-unit parameters."""

    def _shapes(self) -> list[tuple[int, ...]]:
        """Of the recurrent matrices."""

        def width(a: Node) -> int:
            """Of an operand: pointwise, so that of any input, product or state in it."""
            parts = [i.args for i in topological([a]) if i.op == "input"]
            return next(self.widths[name] for kind, name in parts if kind in "xrs")

        products = self.formula.trace.products
        ends = [([self.widths[n] for n in p.names], width(p.operand)) for p in products]
        if self.heads == 1:
            return [(sum(results), operand) for results, operand in ends]
        if not products:
            raise ModelError(f"{self.formula.name} has no recurrent matrix to divide among heads")
        for results, operand in ends:
            if self.heads < 1 or len(set(results)) > 1 or results[0] % self.heads or operand % self.heads:
                raise ModelError(f"{max(results)} units cannot be shared equally among {self.heads} heads")
        return [(self.heads, sum(results) // self.heads, operand // self.heads) for results, operand in ends]

    def _init_recurrence(self, orthogonal: bool, bound: float) -> None:
        for product, matrix in zip(self.formula.trace.products, self.U, strict=True):
            each = [self.widths[n] // self.heads for n in product.names]
            for head in matrix.data if self.heads > 1 else [matrix.data]:
                for block in head.split(each):
                    nn.init.orthogonal_(block) if orthogonal else nn.init.uniform_(block, -bound, bound)

    def init_gate_bias(self, gate: str, value: float) -> None:
        """Let the bias of ``gate`` start at ``value``; a cell without biases has nothing to start."""
        gates = self.formula.gates
        if gate not in gates:
            raise ModelError(f"{self.formula.name} has no gate {gate!r}; it has {', '.join(gates)}")
        if self.b is not None:
            nn.init.constant_(self.b.data.chunk(len(gates))[gates.index(gate)], value)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        multiply = linear_mixed if is_mixed(x, self.W) else linear_large
        return (multiply(x, self.W, self.b),)

    def affine(self) -> tuple[Tensor, Tensor | None]:
        return self.W, self.b

    def matrices(self) -> Sequence[Tensor]:
        return list(self.U)

    def unit_parameters(self) -> Sequence[Tensor]:
        return list(self.p)

    def extra_repr(self) -> str:
        states = ", ".join(f"{n}={self.widths[n]}" for n in self.formula.states)
        heads = f", heads={self.heads}" if self.heads > 1 else ""
        return f"{self.input_size} -> {states}{heads}"


class RecurrentCell(FormulaCell):
    """A cell whose class says its formula, which has recurrent matrices."""

    formula: Formula

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: bool = True, orthogonal: bool = True, heads: int = 1
    ) -> None:
        super().__init__(self.formula, input_size, hidden_size, bias=bias, orthogonal=orthogonal, heads=heads)


class ElementwiseCell(FormulaCell):
    """A cell whose class says its formula, in which each unit reads its own past alone."""

    formula: Formula

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True) -> None:
        super().__init__(self.formula, input_size, hidden_size, bias=bias)


def count_parameters(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
