"""Input and state gate one another before a cell reads: the Mogrifier (Melis et al. 2020).

What the matrices W of the cell multiply is then known within the step only: they are matrices of the formula
like any other, and the input enters it as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, cast

import torch
from torch import nn
from torch.nn.functional import linear

from elman.cells.formulaic import Formulaic, WrappedCell
from elman.errors import ModelError
from elman.formula import Formula, Gates, Matrices, State, sigmoid
from elman.formula.symbols import symbol
from elman.shapes import Tensor


@cache
def mogrify_formula(inner: Formula, rounds: int, thin: bool) -> Formula:
    """The formula after some rounds; ``thin`` matrices stand before those of the rounds, q before Q."""

    def function(x: Gates, U: Matrices, s: State, *more: Gates) -> State:
        v, h = x.x, getattr(s, inner.output)
        for i in range(1, rounds + 1):
            if i % 2:
                v = 2 * sigmoid(multiply_thin(U, f"Q_{i}", h)) * v
            else:
                h = 2 * sigmoid(multiply_thin(U, f"R_{i}", v)) * h
        gates = [getattr(x, gate) + multiply(U, f"W_{gate}", v) for gate in inner.gates]
        p, m = more[:1] if inner.parameters else ((),), more[-1:] if inner.masks else ((),)
        return inner(gates, partial(multiply, U), s.replace(**{inner.output: h}), *p, *m)

    def multiply(U: Matrices, name: str, operand: Any) -> Any:
        return getattr(U, name)(operand)

    def multiply_thin(U: Matrices, name: str, operand: Any) -> Any:
        return multiply(U, name, multiply(U, name.lower(), operand) if thin else operand)

    function.__name__ = f"mogrified_{inner.name}"
    function.__signature__ = inspect.signature(inner.function)  # type: ignore[attr-defined]
    names = _names(rounds)
    names += [name.lower() for name in names if thin]
    matrices = (*names, *(f"W_{gate}" for gate in inner.gates), *inner.gates, *inner.matrices)
    return replace(inner, function=function, gates=(*inner.gates, "x"), matrices=matrices)


def _names(rounds: int) -> list[str]:
    """Q_1, R_2, Q_3, …"""
    return [f"{'QR'[i % 2]}_{i + 1}" for i in range(rounds)]


class MogrifiedCell(WrappedCell):
    """A cell whose input and output state pass through gates, by turns, before each step."""

    def __init__(self, cell: Formulaic, gates: nn.ModuleList) -> None:
        if cell.heads > 1:
            raise ModelError("the Mogrifier multiplies by whole matrices; its cell has heads")
        if len(gates) > 1 and symbol("s", cell.formula.output) not in cell.formula.trace.uses:
            raise ModelError(f"{cell.formula.name} does not read the state that a round would gate")
        thin = isinstance(gates[0], nn.Sequential)
        super().__init__(cell, mogrify_formula(cell.formula, len(gates), thin))
        self.gates, self.mixes_input = gates, True
        own = {name: len(matrix) for name, matrix in self._own()}
        read = {f"W_{gate}": cell.widths[gate] for gate in cell.formula.gates}
        self.widths = {**cell.widths, **own, **read, "x": cell.input_size}

    def _own(self) -> Iterator[tuple[str, Tensor]]:
        """Q_i and R_i, and the thin matrices before them, by name."""
        for name, gate in zip(_names(len(self.gates)), self.gates, strict=True):
            *thin, last = gate if isinstance(gate, nn.Sequential) else [gate]
            yield from ((name.lower(), cast(nn.Linear, part).weight) for part in thin)
            yield name, cast(nn.Linear, last).weight

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """Of the gates only b is known beforehand; x follows as it is."""
        W, b = self.cell.affine()
        known = x.new_zeros(len(W)) if b is None else b
        masks = self.cell.project(x)[1:] if self.formula.masks else ()
        return torch.cat((known.to(x.dtype).expand(*x.shape[:-1], -1), x), -1), *masks

    def step_inputs(self, gates: Tensor) -> tuple[Tensor, ...]:
        raise ModelError("a Mogrifier multiplies its input within the step: give it x, not W x + b")

    def matrices(self) -> Sequence[Tensor]:
        parts = (self._parts(product.names) for product in self.formula.trace.products)
        return [some[0] if len(some) == 1 else torch.cat(some) for some in parts]

    def multiply(self, number: int, operand: Tensor) -> Tensor:
        parts = self._parts(self.formula.trace.products[number].names)
        return torch.cat([linear(operand, matrix) for matrix in parts], -1)

    def _parts(self, names: Sequence[str]) -> list[Tensor]:
        """The matrices of these names, those side by side that lie so in the cell."""
        inner = self.cell.formula
        read = tuple(f"W_{gate}" for gate in inner.gates)
        known = {(name,): matrix for name, matrix in self._own()} | {read: self.cell.affine()[0]}
        products = (product.names for product in inner.trace.products)
        known |= dict(zip(products, self.cell.matrices(), strict=True))
        parts, left = [], tuple(names)
        while left:
            here = next((some for some in known if left[: len(some)] == some), left[:1])
            if here not in known:  # a matrix that lies among others
                names, matrix = next((some, matrix) for some, matrix in known.items() if here[0] in some)
                each = torch.split(matrix, [self.widths[n] for n in names])
                known |= zip(((n,) for n in names), each, strict=True)
            parts.append(known[here])
            left = left[len(here) :]
        return parts

    def sample_masks(self, like: Tensor) -> MogrifiedCell:
        cell = cast(Formulaic, self.cell.sample_masks(like))
        return self if cell is self.cell else MogrifiedCell(cell, self.gates)

    def equations(self) -> list[str]:
        """The rounds, then the cell's formula, typeset in Unicode; x and h are what the round before left."""
        rounds = {"Q": "x = 2 ⊙ σ({} h) ⊙ x", "R": "h = 2 ⊙ σ({} x) ⊙ h"}
        return [*(rounds[n[0]].format(n) for n in _names(len(self.gates))), *self.cell.equations()]


class Mogrifier(MogrifiedCell):
    """Any cell after some rounds in which x and h gate one another, x first.

    x ← 2 σ(Q_i h) ⊙ x    (i = 1, 3, …)        h ← 2 σ(R_i x) ⊙ h    (i = 2, 4, …)        then s' = R(s, x)

    ``rank`` makes each Q_i and R_i a product of two thin matrices; 0: they are whole. All gates begin at 1:
    the cell begins as the one it holds.
    """

    def __init__(self, cell: Formulaic, *, rounds: int = 5, rank: int = 0) -> None:
        if rounds < 1 or rank < 0:
            raise ModelError(f"rounds must be at least 1 and rank at least 0, got {rounds} and {rank}")
        sizes = cell.output_size, cell.input_size
        gates = [_gate(*(sizes[::-1] if turn % 2 else sizes), rank) for turn in range(rounds)]
        super().__init__(cell, nn.ModuleList(gates))


def _gate(source: int, target: int, rank: int) -> nn.Module:
    last = nn.Linear(rank or source, target, bias=False)
    nn.init.zeros_(last.weight)
    return nn.Sequential(nn.Linear(source, rank, bias=False), last) if rank else last
