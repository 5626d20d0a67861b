"""The step of a stack of formula cells as a program: one call of C++ for all layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from elman.cells import Cell, Dropout, Formulaic, Residual, Stacked
from elman.native.step_program import Matrix, ProgramBuilder
from elman.scan.few_steps import find_steps
from elman.scan.kept_weights import KeptWeights
from elman.shapes import Tensor
from elman.state import State

_ROOM = 2**27  # bytes for a table, of which only what is read takes memory


@dataclass(frozen=True)
class StateLayout:
    """How the tensors of a state are arranged: the widths of its own, or parts, under names or in order."""

    names: tuple[str, ...] | None
    parts: tuple[int | StateLayout, ...]

    def widths(self) -> Iterator[int]:
        for part in self.parts:
            yield from (part,) if isinstance(part, int) else part.widths()

    def arrange(self, tensors: Iterator[Tensor]) -> Any:
        """A state of these tensors."""
        parts = [next(tensors) if type(part) is int else part.arrange(tensors) for part in self.parts]  # type: ignore[union-attr]
        return tuple(parts) if self.names is None else State(**dict(zip(self.names, parts, strict=False)))


def flatten_state(state: Any, into: list[Tensor]) -> list[Tensor]:
    """The tensors of a state in the order of `StateLayout`."""
    for part in state:
        if isinstance(part, tuple):
            flatten_state(part, into)
        else:
            into.append(part)
    return into


def find_layout(cell: Cell[Any]) -> StateLayout | None:
    """That of a cell's states; None where it is no stack of formulas that can be printed."""
    if isinstance(cell, Dropout):
        return find_layout(cell.cell)
    if isinstance(cell, Stacked):
        layers = [find_layout(layer) for layer in cell.layers]
        return None if None in layers else StateLayout(None, tuple(one for one in layers if one is not None))
    if isinstance(cell, Residual):
        inner = find_layout(cell.cell)
        return None if inner is None else StateLayout(("inner", "y"), (inner, cell.output_size))
    if not isinstance(cell, Formulaic) or cell.mixes_input or cell.formula.masks or find_steps(cell) is None:
        return None
    return StateLayout(cell.formula.states, tuple(cell.widths[name] for name in cell.formula.states))


def _is_worth_folding(E: Tensor, W: Tensor) -> bool:
    """Is there room for what W makes of all rows, and can changes be told? Only what is read is computed."""
    return 4 * len(E) * (W.shape[0] + W.shape[1]) <= _ROOM and not W.is_inference()


@dataclass
class StackWriter:
    """Writes the instructions of a cell; states are taken from the given buffers one after the other."""

    build: ProgramBuilder
    kept: KeptWeights
    old: Iterator[int]
    new: Iterator[int]
    missing: list[Tensor] = field(default_factory=list)  # weights that cannot be noted

    def write(self, cell: Cell[Any], x: int | Tensor) -> int:
        """The buffer of y_i, from that of x_i, or from a table whose rows are x_i."""
        if isinstance(cell, Dropout):
            return self.write(cell.cell, x)
        if isinstance(cell, Stacked):
            for layer in cell.layers[:-1]:
                x = self.write(layer, x)
            return self.write(cell.layers[-1], x)
        if isinstance(cell, Residual):
            x = x if isinstance(x, int) else self.build.look_up(self.address(x), *x.shape)
            y = self.write(cell.cell, x)
            next(self.old)
            return self.build.sum(x, y, next(self.new))
        assert isinstance(cell, Formulaic)  # `find_layout` asked
        return self.write_step(cell, self.write_input(cell, x))

    def write_input(self, cell: Formulaic, x: int | Tensor) -> int:
        """The buffer of W x_i + b; of the first columns of W where ``x`` is narrower than what is read."""
        whole, b = cell.affine()
        bias = None if b is None else self.address(b)
        if isinstance(x, Tensor):
            if _is_worth_folding(x, whole):
                return self._fold(x, whole, b)
            x = self.build.look_up(self.address(x), *x.shape)
        return self.build.multiply(x, self.matrix(whole, 0, self.build.widths[x]), bias)

    def _fold(self, E: Tensor, W: Tensor, b: Tensor | None) -> int:
        (vocabulary, depth), width = E.shape, len(W)
        rows = self.kept.allocate(vocabulary, width + depth)
        known = self.kept.allocate(vocabulary, dtype=torch.uint8)
        matrix = Matrix(self.address(W), width, depth, W.shape[1])
        bias = None if b is None else self.address(b)
        if not self.missing:
            for weight in (W,) if b is None else (W, b):
                self.kept.watch(weight)
        return self.build.fold(self.address(E), vocabulary, matrix, bias, rows, known)

    def write_step(self, cell: Formulaic, gates: int) -> int:
        """The buffer of y_i, from that of W x_i + b."""
        steps, names = find_steps(cell), cell.formula.states
        assert steps is not None  # `find_layout` asked
        old, new = [next(self.old) for _ in names], [next(self.new) for _ in names]
        matrices = [self.matrix(U) for U in cell.matrices()]
        packed = bool(matrices) and all(U.bfloat16 for U in matrices)
        at = [U.at for U in matrices] if packed else [self.address(U) for U in cell.matrices()]
        at += [self.address(p) for p in cell.unit_parameters()]
        operands: list[tuple[int | None, int | None]] = [(gates, None), *((s, None) for s in old)]
        operands += [*((None, fixed) for fixed in at), *((s, None) for s in new)]
        run = steps.packed_address if packed else steps.address
        self.build.step(run, steps.distinct, steps.scratch, operands)
        return new[names.index(cell.formula.output)]

    def matrix(self, t: Tensor, first: int = 0, last: int | None = None) -> Matrix:
        """Some columns of a weight, or all."""
        columns = range(*slice(first, last).indices(t.shape[1]))
        found = self.kept.find_matrix(t, columns)
        if found is None:
            self.missing.append(t)
        return found or Matrix(0, len(t), len(columns), 0)

    def address(self, t: Tensor) -> int:
        found = self.kept.find(t)
        if found is None:
            self.missing.append(t)
        return found or 0


def read_states(state: Any) -> list[Tensor] | None:
    """The tensors of a state, without gaps; None where one is not float32 in memory."""
    tensors = flatten_state(state, [])
    for i, t in enumerate(tensors):
        if t.dtype is not torch.float32 or not t.is_cpu:
            return None
        if not t.is_contiguous():
            tensors[i] = t.contiguous()
    return tensors
