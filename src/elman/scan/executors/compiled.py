"""A recurrence as one operator of torch, for ``torch.compile`` and ``torch.export``.

A compiler sees the weights, the states and the shapes; the executor is chosen when the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import torch
from torch.nn.functional import linear

from elman.cells import Formulaic
from elman.formula import Formula
from elman.formula.formula_names import find_formula, name_formula
from elman.operators import as_constant, as_operator
from elman.scan.execution import Execution
from elman.scan.executors.choice import choose_executor
from elman.scan.executors.torch_kernels import match
from elman.shapes import Tensor
from elman.state import State


def run_compiled(cell: Formulaic, xs: Tensor, state: State, execution: Execution) -> tuple[Tensor, State]:
    """y_{1:n} and s_n by the operator."""
    affine: list[Tensor] = []
    if _has_kernel(cell.formula.handle):  # PyTorch's kernels multiply by W themselves
        affine = [t for t in cell.affine() if t is not None]
    else:
        xs = torch.cat(cell.project(xs), -1)
    mask = [] if execution.mask is None else [execution.mask]
    tensors = [xs, *mask, *affine, *state, *cell.matrices(), *cell.unit_parameters()]
    cell_name = _name_cell(cell.formula.handle, tuple(cell.widths.items()), cell.heads)
    ys, *end = recurrence(
        tensors, cell_name, [len(mask), len(affine)], execution.executor, execution.reverse, execution.autocast
    )
    return ys, State(**dict(zip(cell.formula.states, end, strict=True)))


@as_constant
def _has_kernel(handle: str) -> bool:
    return match(find_formula(name_formula(handle))) is not None


@as_constant
def _name_cell(handle: str, widths: Sequence[tuple[str, int]], heads: int) -> str:
    """A formula, its heads and its widths in words."""
    return " ".join([name_formula(handle), str(heads), *(f"{name}={width}" for name, width in widths)])


@cache
def _parse(cell_name: str) -> tuple[Formula, int, Mapping[str, int]]:
    name, heads, *widths = cell_name.split()
    pairs = (part.split("=") for part in widths)
    return find_formula(name), int(heads), {part: int(width) for part, width in pairs}


def _result_shapes(
    tensors: list[Tensor],
    cell_name: str,
    counts: list[int],
    executor: str,
    reverse: bool,
    autocast: torch.dtype | None,
) -> list[Tensor]:
    xs, (formula, _, widths) = tensors[0], _parse(cell_name)
    rows, steps, _ = xs.shape
    shapes = [(rows, steps, widths[formula.output]), *((rows, widths[name]) for name in formula.states)]
    return [xs.new_empty(shape, dtype=autocast or xs.dtype) for shape in shapes]


@as_operator(_result_shapes)
def recurrence(
    tensors: list[Tensor],
    cell_name: str,
    counts: list[int],
    executor: str,
    reverse: bool,
    autocast: torch.dtype | None,
) -> list[Tensor]:
    """y_{1:n} and the parts of s_n from x_{1:n}, the mask, W and b, s_0, and the other weights.

    ``counts``: is there a mask, and how many of W and b. Without them the input is what W x + b has become.
    """
    xs, *rest = tensors
    each = iter(rest)
    mask, affine = ([next(each) for _ in range(count)] for count in counts)
    formula = _parse(cell_name)[0]
    state = State(**{name: next(each) for name in formula.states})
    matrices = [next(each) for _ in formula.trace.products]
    cell = _GivenCell(cell_name, xs, affine, matrices, list(each))
    with torch.autocast(xs.device.type, dtype=autocast, enabled=autocast is not None):
        execution = Execution.begin(xs, mask[0] if mask else None, reverse=reverse, executor=executor)
        ys, end = choose_executor(cell, execution).run(cell, xs, state, execution)
    return [t.to(autocast or xs.dtype) for t in (ys, *end)]


class _GivenCell(Formulaic):
    """A cell of given tensors; without W and b it reads what W x + b and the masks have become."""

    def __init__(
        self,
        cell_name: str,
        xs: Tensor,
        affine: Sequence[Tensor],
        matrices: Sequence[Tensor],
        units: Sequence[Tensor],
    ) -> None:
        super().__init__()
        self.formula, self.heads, self.widths = _parse(cell_name)
        self.input_size, self.output_size = xs.shape[2], self.widths[self.formula.output]
        self._xs, self._affine, self._matrices, self._units = xs, affine, matrices, units

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        if self._affine:
            return (linear(x, *self._affine),)
        gates = sum(self.widths[name] for name in self.formula.gates)
        parts = torch.split(x, [gates, *(self.widths[name] for name in self.formula.masks)], -1)
        return tuple(part.clone() for part in parts)  # an executor may overwrite them

    def affine(self) -> tuple[Tensor, Tensor | None]:
        W, *b = self._affine or [self._xs]  # of which the precision alone is asked
        return W, b[0] if b else None

    def matrices(self) -> Sequence[Tensor]:
        return self._matrices

    def unit_parameters(self) -> Sequence[Tensor]:
        return self._units
