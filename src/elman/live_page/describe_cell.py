"""A cell as data: its formula, its step in JavaScript, and which rows of which tensor each gate has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch

from elman.cells import Cell, Formulaic, WrappedCell, Zoneout
from elman.cells.mogrifier import MogrifiedCell
from elman.errors import ModelError
from elman.live_page.page_parts import PageParts
from elman.live_page.weight_table import WeightTable
from elman.shapes import Tensor


def describe_cell(cell: Cell[Any], parts: PageParts, *, reverse: bool = False) -> dict[str, Any]:
    """One cell in one direction."""
    if not isinstance(cell, Formulaic):
        raise ModelError(
            f"{type(cell).__name__} is a cell without a formula; a page prints cells from their formulas"
        )
    formula, mogrified = cell.formula, any(isinstance(c, MogrifiedCell) for c in _inside(cell))
    masks = {name: p for c in _inside(cell) if isinstance(c, Zoneout) for name, p in c.p.items()}
    if set(formula.masks) - set(masks):
        raise ModelError(f"the formula {formula.name!r} has masks of its own, which a page cannot draw")
    units = zip(formula.parameters, cell.unit_parameters(), strict=True)
    return {
        "name": formula.name,
        "formula": parts.add_formula(formula),
        "step": parts.add_step(cell),
        "equations": cell.equations(),
        "reverse": reverse,
        "inputSize": cell.input_size,
        "widths": dict(cell.widths),
        "gates": _describe_gates(cell, mogrified, parts.weights),
        "raw": formula.gates[-1] if mogrified else None,
        "matrices": _describe_matrices(cell, parts.weights),
        "parameters": {name: parts.weights.add(p) for name, p in units},
        "masks": masks,
    }


def _inside(cell: Formulaic) -> Iterator[Formulaic]:
    """The cell, and those that it is wrapped around."""
    yield cell
    while isinstance(cell, WrappedCell):
        cell = cell.cell
        yield cell


def _describe_gates(cell: Formulaic, mogrified: bool, weights: WeightTable) -> dict[str, Any]:
    """W and b of each gate; a mogrified cell multiplies by W within the step."""
    W, b = cell.affine()
    gates = cell.formula.gates[:-1] if mogrified else cell.formula.gates
    found: dict[str, Any] = {}
    for gate, rows in _split(gates, [cell.widths[g] for g in gates]):
        weight = None if mogrified else {**weights.add(W), "rows": rows}
        found[gate] = {"W": weight, "b": None if b is None else {**weights.add(b), "rows": rows}}
    return found | ({cell.formula.gates[-1]: {"W": None, "b": None}} if mogrified else {})


def _describe_matrices(cell: Formulaic, weights: WeightTable) -> dict[str, Any]:
    found = {}
    for k, (product, matrix) in enumerate(zip(cell.formula.trace.products, cell.matrices(), strict=True)):
        whole = matrix if cell.heads == 1 else _join_heads(cell, k, matrix)
        stored = weights.add(whole)
        for name, rows in _split(product.names, [cell.widths[n] for n in product.names]):
            found[name] = {**stored, "rows": rows}
    return found


def _join_heads(cell: Formulaic, k: int, matrix: Tensor) -> Tensor:
    """The block-diagonal matrix of a product as a whole."""
    width = matrix.shape[0] * matrix.shape[2]
    with torch.no_grad():
        return cell.multiply(k, torch.eye(width, dtype=matrix.dtype)).T.contiguous()


def _split(names: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, list[int]]]:
    """Which rows each name has, from and to."""
    edges = [sum(widths[:i]) for i in range(len(widths) + 1)]
    return zip(names, map(list, pairwise(edges)), strict=True)
