"""scan runs a cell over time: y_{1:n} and s_n from x_{1:n} and s_0.

Executors are ways to compute the same thing; ``explain`` says which would run, and why:

- ``parallel``: formulas without a recurrent matrix, as C++ or CUDA, over time at once where they are linear;
- ``cpu``: any formula in C++, printed from its trace and compiled once, on a CPU in float32;
- ``cuda``: any formula as one CUDA kernel for the whole sequence, in 16-bit products (under autocast);
- ``torch``: PyTorch's own kernels (ATen, oneDNN, cuDNN), for the formulas they compute exactly;
- ``codegen``: any formula, in plain torch, with the derivative that was derived from it;
- ``loop``: one step after the other, for any cell: the reference.
"""

from __future__ import annotations

from typing import Any

import torch

from elman.cells import Cell, Dropout, Formulaic, Residual, Stacked
from elman.cells.regularization import MaskedOutput
from elman.errors import ArgumentError, ModelError, show_value
from elman.operators import is_opaque
from elman.scan.execution import Execution, Executor, autocast_dtype, check_mask
from elman.scan.executors import EXECUTORS, Scanner, require_known
from elman.scan.explanation import Choice, Explanation, explain
from elman.scan.packed_rows import can_pack, run_packed
from elman.scan.table_lookup import TableLookup, find_tensor
from elman.second_derivatives import needs_plain_form
from elman.shapes import Bool, Float, Tensor
from elman.state import S, leaves

__all__ = [
    "EXECUTORS",
    "Choice",
    "Executor",
    "Explanation",
    "TableLookup",
    "check",
    "execute",
    "explain",
    "scan",
]


def scan(
    cell: Cell[S],
    xs: Float[Tensor, "B T D"] | TableLookup,
    mask: Bool[Tensor, "B T"] | None = None,
    state: S | None = None,
    *,
    reverse: bool = False,
    executor: str = "auto",
) -> tuple[Float[Tensor, "B T H"], S]:
    """Run ``cell`` over ``xs``; where ``mask`` is false the state stays and the output is zero.

    ``reverse`` reads from the last token to the first; outputs stay at the positions of their inputs.
    ``executor="auto"`` takes the fastest that computes exactly this cell. Where ``xs`` says which rows of a
    table it holds (`TableLookup`), the product with W may be computed once for each row.
    """
    require_known(executor)
    if not isinstance(cell, Cell):
        raise ArgumentError(f"cell is {show_value(cell)}; it must be a cell, such as LSTM(3, 4)")
    execution = Execution.begin(xs, mask, reverse=reverse, executor=executor)
    return execute(cell, find_tensor(xs), state, execution)


def execute(
    cell: Cell[S], xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"], state: S | None, execution: Execution
) -> tuple[Float[Tensor, "B T H"] | Float[Tensor, "N H"], S]:
    """``scan`` for those who run several cells over one batch, and know the same of each run."""
    mask = execution.mask if execution.packed is None else None
    like = execution.like(xs)
    check(cell, like, mask, state)
    cell = cell.sample_masks(like)
    begin = cell.initial(like) if state is None else state
    if mask is None or _is_known_full(execution):
        return Scanner(execution)(cell, xs, begin)
    core = _find_core(cell)
    if isinstance(core, Stacked | Residual) and can_pack(xs, execution):
        return run_packed(lambda rows, packed: Scanner(packed)(cell, rows, begin), xs, execution)
    # Padding may hold anything, NaN too: zero times its gradient must be zero. Where tokens are packed at once,
    # nobody reads it.
    plain = execution.executor == "loop" or is_opaque() or needs_plain_form()
    packs = isinstance(core, Formulaic)
    if plain or not packs:
        xs = xs.masked_fill(~mask[..., None], 0)
    ys, end = Scanner(execution)(cell, xs, begin)
    return ys if packs else ys * mask[..., None], end


def _find_core(cell: Cell[Any]) -> Cell[Any]:
    """The cell without masks of its output: zeros of the padding stay zeros under them."""
    while isinstance(cell, MaskedOutput):
        cell = cell.cell
    return cell


def check(cell: Cell[Any], xs: Tensor, mask: Tensor | None, state: Any) -> None:
    """Refuse what the cell cannot read; ``state`` None is its own first one."""
    dtype = _find_dtype(cell, xs)
    if xs.dtype != dtype and autocast_dtype(xs) is None:
        raise ModelError(f"xs is {xs.dtype}, but the cell computes in {dtype}")
    if xs.shape[2] != cell.input_size:
        raise ModelError(f"the cell reads {cell.input_size} features, xs has {xs.shape[2]}")
    check_mask(xs, mask)
    if state is None:
        return
    parts = [*leaves(state)]
    expected, given = (
        [(path, tuple(t.shape)) for path, t in each] for each in (leaves(cell.initial(xs)), parts)
    )
    if given != expected:
        wants, got = (
            ", ".join(f"{path or 'state'} {shape}" for path, shape in parts) for parts in (expected, given)
        )
        raise ModelError(f"the initial state must be {wants}, got {got}")
    other = next((t.dtype for _, t in parts if t.dtype != dtype), None)
    if other is not None and autocast_dtype(xs) is None:
        raise ModelError(f"the initial state is {other}, but the cell computes in {dtype}")


def _is_known_full(execution: Execution) -> bool:
    """Whether nothing is masked, where to ask costs little: in prediction on a CPU, with values to look at."""
    if torch.is_grad_enabled() or is_opaque() or needs_plain_form():
        return False
    mask = execution.mask
    return mask is not None and mask.is_cpu and not execution.has_padding


def _find_dtype(cell: Cell[Any], xs: Tensor) -> torch.dtype:
    """That of the lowest layer: to look for all parameters of a module takes as long as a step."""
    while isinstance(cell, Stacked | Residual | Dropout):
        cell = cell.layers[0] if isinstance(cell, Stacked) else cell.cell
    if isinstance(cell, Formulaic):
        return cell.affine()[0].dtype
    return next((p.dtype for p in cell.parameters()), xs.dtype)
