"""PyTorch's own kernels (ATen, oneDNN, cuDNN) for the formulas they compute exactly.

A cell is recognised by its formula, not by its class: whoever writes an LSTM of their own gets cuDNN too, and
whoever changes one sign does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from typing import Any, cast

import torch

from elman.cells import Cell, FormulaCell, Formulaic
from elman.cells.elman import elman, elman_relu
from elman.cells.gru import reset_after, reset_after_plain
from elman.cells.lstm import lstm
from elman.cells.lstm_variants import projected_lstm
from elman.formula import Formula, Node
from elman.formula.symbols import symbol
from elman.formula.traversal import substitute
from elman.scan.execution import Execution, Executor, autocast_dtype
from elman.scan.executors.flat_weights import flatten_weights
from elman.scan.executors.loop import LOOP
from elman.scan.lengths import Lengths
from elman.scan.packing import Packing
from elman.second_derivatives import needs_plain_form
from elman.shapes import Float, Tensor
from elman.state import State, map_state

Kernel = Callable[..., tuple[Tensor, ...]]

KERNELS: tuple[tuple[Formula, Kernel], ...] = (
    (elman, torch.rnn_tanh),
    (elman_relu, torch.rnn_relu),
    (lstm, torch.lstm),
    (projected_lstm, torch.lstm),
    (reset_after, torch.gru),
    (reset_after_plain, torch.gru),
)

_MODES: dict[Kernel, str] = {  # cuDNN's names
    torch.lstm: "LSTM",
    torch.gru: "GRU",
    torch.rnn_tanh: "RNN_TANH",
    torch.rnn_relu: "RNN_RELU",
}


@dataclass(frozen=True)
class Match:
    """A kernel, and which of the cell's gates and states stand where the kernel expects its own."""

    kernel: Kernel
    gates: tuple[int, ...]
    states: tuple[int, ...]


def unsupported_reason(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    matched = match(cell.formula)
    if matched is None:
        return f"PyTorch has no kernel for the formula {cell.formula.name!r}"
    if cell.heads > 1:
        return "PyTorch multiplies by whole matrices, and this cell has heads"
    if len(cell.formula.trace.products) > 1 and len(set(cell.widths.values())) == 1:
        return "PyTorch projects to a smaller size only"
    if not needs_plain_form() and not _works(matched.kernel):
        return f"this PyTorch's {matched.kernel.__name__} computes something else"
    return None


@cache
def _works(kernel: Kernel) -> bool:
    """Does the kernel compute its formula? Tried once: it is not documented how it is called."""
    formula = next(known for known, one in KERNELS if one is kernel)
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        cell = FormulaCell(formula, 2, 3).double()
    xs = torch.linspace(-1, 1, 24, dtype=torch.float64).view(4, 3, 2)
    mask = torch.arange(3) < torch.tensor([3, 1, 2, 3])[:, None]
    ways = [Execution(lengths, False, "torch", False, None) for lengths in (None, Lengths(mask))]
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        expected = [LOOP.run(cell, xs, cell.initial(xs), way)[0] for way in ways]
        try:
            found = [run(cell, xs, cell.initial(xs), way)[0] for way in ways]
        except Exception:  # whatever became of it, there are other executors
            return False
    return all(map(torch.allclose, found, expected))


def find_drawback(cell: Cell[Any], execution: Execution) -> str | None:
    """Why PyTorch's kernels are not the fastest for this cell here.

    On CUDA they are. With gradients on the CPU only for the LSTM without padding, which runs on oneDNN
    (bench/recurrence.py measures what has no padding); the others step through autograd. Without
    gradients neither way was clearly ahead, so the kernels are kept.
    """
    cell = cast(Formulaic, cell)
    weight = cell.affine()[0]
    if weight.is_cuda:
        return None
    if is_onednn(cell.formula) and (execution.autocast or weight.dtype) is torch.float16:
        return "oneDNN has an LSTM in float16 on few processors"
    if not torch.is_grad_enabled():
        return None
    if is_onednn(cell.formula) and not execution.has_padding:
        return None
    return "on a CPU with gradients only an LSTM without padding is faster by PyTorch's kernels"


def is_onednn(formula: Formula) -> bool:
    """Is it the LSTM that oneDNN runs as a whole on a CPU?"""
    matched = match(formula)
    return matched is not None and matched.kernel is torch.lstm and len(formula.trace.products) == 1


@cache
def match(formula: Formula) -> Match | None:
    """The kernel that computes this formula, up to the names and the order of gates and states."""
    for known, kernel in KERNELS:
        counts = {(len(f.gates), len(f.states), len(f.parameters), len(f.masks)) for f in (known, formula)}
        orders = product(permutations(formula.gates), permutations(formula.states)) if len(counts) == 1 else ()
        for gates, states in orders:
            if _same(known, formula, gates, states):
                order = tuple(map(formula.gates.index, gates))
                return Match(kernel, order, tuple(map(formula.states.index, states)))
    return None


def _same(known: Formula, formula: Formula, gates: tuple[str, ...], states: tuple[str, ...]) -> bool:
    """Is ``known`` with these names for its gates and states the formula itself?"""
    state = dict(zip(known.states, states, strict=True))
    result = state | dict(zip(known.gates, gates, strict=True))
    unit = dict(zip(known.parameters, formula.parameters, strict=True))
    renamed = [("x", result), ("r", result), ("s", state), ("p", unit)]
    inputs = {symbol(k, a): symbol(k, b) for k, names in renamed for a, b in names.items()}
    return (
        state[known.output] == formula.output
        and {state[n]: substitute(a, inputs) for n, a in known.trace.new.items()} == dict(formula.trace.new)
        and _operands(known, inputs, result) == _operands(formula, {}, {})
    )


def _operands(formula: Formula, inputs: Mapping[Node, Node], names: Mapping[str, str]) -> dict[str, Node]:
    """What each matrix multiplies."""
    products = formula.trace.products
    return {names.get(n, n): substitute(p.operand, inputs) for p in products for n in p.names}


def run(
    cell: Cell[Any], xs: Float[Tensor, "B T D"] | Float[Tensor, "N D"], state: State, execution: Execution
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    packed = execution.packing(xs)
    if not sum(packed.sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    matched = cast(Match, match(cell.formula))
    begin, rows = packed.sort(state), packed.sizes[0]
    hidden = [begin[j][:rows].unsqueeze(0).contiguous() for j in matched.states]  # for cuDNN
    ys, *final = _call(matched.kernel, packed, xs, hidden, torch_weights(cell))
    new = {cell.formula.states[j]: f[0] for j, f in zip(matched.states, final, strict=True)}
    end = State(**{name: new[name] for name in cell.formula.states})
    if rows < packed.rows:  # rows without a single token keep the state they came with
        end = map_state(lambda a, b: torch.cat((a, b[rows:])), end, begin)
    return ys, packed.unsort(end)


def _call(
    kernel: Kernel, packed: Packing, xs: Tensor, hidden: list[Tensor], weights: list[Tensor]
) -> tuple[Tensor, ...]:
    if xs.is_cuda and torch._use_cudnn_rnn_flatten_weight():
        dtype = autocast_dtype(xs) or weights[0].dtype
        xs, hidden = xs.to(dtype), [h.to(dtype) for h in hidden]
        weights = flatten_weights(weights, _MODES[kernel], dtype)
    hx = hidden if kernel is torch.lstm else hidden[0]
    train = torch.is_grad_enabled()  # cuDNN keeps what its backward needs only when told
    options = (len(weights) > 3, 1, 0.0, train, False)  # biases, layers, dropout, train, two ways
    with torch.autocast("cuda", enabled=False) if xs.is_cuda else nullcontext():
        if packed.index is not None:
            sizes = torch.tensor(packed.sizes)
            ys, *final = kernel(packed.pack(xs), sizes, hx, weights, *options)
            return packed.unpack(ys), *final
        xs = xs.flip(1) if packed.reverse else xs
        ys, *final = kernel(xs, hx, weights, *options, True)
        return ys.flip(1) if packed.reverse else ys, *final


def torch_weights(cell: Formulaic) -> list[Tensor]:
    """W, U, two biases and the projection in the order of gates that PyTorch has; biases only if any."""
    matched = cast(Match, match(cell.formula))
    W, b = cell.affine()
    U, *projection = cell.matrices()
    unit = cell.unit_parameters()
    gates = range(len(matched.gates))
    if matched.gates != tuple(gates):
        W, U = (torch.cat([m.chunk(len(gates))[i] for i in matched.gates]) for m in (W, U))
        b = None if b is None else torch.cat([b.chunk(len(gates))[i] for i in matched.gates])
    if b is None and not unit:
        return [W, U, *projection]
    first = W.new_zeros(W.shape[0]) if b is None else b
    second = torch.zeros_like(first)
    if unit:  # the bias that a GRU resets: of its last gate
        second = torch.cat((second[: -len(unit[0])], unit[0]))
    return [W, U, first, second, *projection]


TORCH = Executor("torch", run, unsupported_reason, find_drawback, reads_rows=lambda *_: True)
