"""Every gate and state of every step, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from elman.cells import Cell, Formulaic, RecordedCell
from elman.errors import ModelError
from elman.formula import Node, State, values
from elman.formula.operation import OPS
from elman.formula.symbols import symbol
from elman.scan import check
from elman.shapes import Bool, Float, Tensor
from elman.state import keep

Arrays = dict[str, np.ndarray]


@torch.no_grad()
def trace_gates(
    cell: Formulaic,
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None = None,
    state: State | None = None,
    *,
    reverse: bool = False,
) -> Arrays:
    """Arrays (B, T, H) by name: each gate after its σ or tanh, each state; NaN where the mask is false.

    The names are those of ``elman.formula.values``: of an LSTM ``i f z o h c``. ``reverse`` reads from the
    last token to the first; values stay at the positions of their inputs.
    """
    named = values(formulaic(cell).formula)
    state = cell.initial(xs) if state is None else state
    check(cell, xs, mask, state)
    if mask is not None:
        xs = xs.masked_fill(~mask[..., None], 0)
    projected = cell.project(xs)
    steps: dict[int, dict[str, Tensor]] = {}
    order = range(xs.shape[1])
    for t in reversed(order) if reverse else order:
        computed = _step(cell, state, tuple(x[:, t] for x in projected))
        new = State(**{name: computed[a] for name, a in cell.formula.trace.new.items()})
        state = new if mask is None else keep(mask[:, t], new, state)
        steps[t] = {name: computed[a] for name, a in named.items()}
    empty = {n: xs.new_zeros(len(xs), 0, cell.widths[n]) for n in named}
    whole = {n: torch.stack([steps[t][n] for t in order], 1) if steps else empty[n] for n in named}
    arrays = {n: tensor.cpu().numpy() for n, tensor in whole.items()}
    if mask is not None:
        for array in arrays.values():
            array[~mask.cpu().numpy()] = np.nan
    return arrays


@torch.no_grad()
def trace_steps(recorded: RecordedCell) -> Arrays:
    """The same arrays of the steps that a cell has made."""
    named = values(recorded.cell.formula)
    steps = [_step(recorded.cell, state, x) for state, x in recorded.steps]
    return {n: torch.stack([computed[a] for computed in steps], 1).cpu().numpy() for n, a in named.items()}


def formulaic(cell: Cell[Any]) -> Formulaic:
    """The cell, if it has gates to name."""
    if not isinstance(cell, Formulaic):
        raise ModelError(f"gates are named by formulas, and {type(cell).__name__} has none")
    return cell


def _step(cell: Formulaic, state: State, x: tuple[Tensor, ...]) -> Mapping[Node, Tensor]:
    """All values of one step, by node."""
    formula, trace = cell.formula, cell.formula.trace
    gates, *masks = x
    known: dict[Node, Tensor] = {}
    for kind, names, tensors in (
        ("x", formula.gates, torch.split(gates, [cell.widths[g] for g in formula.gates], -1)),
        ("s", formula.states, state),
        ("p", formula.parameters, cell.unit_parameters()),
        ("m", formula.masks, masks),
    ):
        known |= {symbol(kind, n): t for n, t in zip(names, tensors, strict=True)}
    for a in trace.nodes:
        if a.op == "input" and a.args[0] == "r" and a not in known:
            k, product = next((k, p) for k, p in enumerate(trace.products) if a.args[1] in p.names)
            result = cell.multiply(k, known[product.operand])
            parts = torch.split(result, [cell.widths[n] for n in product.names], -1)
            known |= {symbol("r", n): t for n, t in zip(product.names, parts, strict=True)}
        elif a.op == "constant":
            known[a] = gates.new_tensor(a.args[0])
        elif a.operands:
            known[a] = OPS[a.op].tensor(*(known[o] for o in a.operands))
    return known
