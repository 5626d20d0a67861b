"""PyTorch's own kernels (ATen, oneDNN, cuDNN) for the formulas they compute exactly.

A cell is recognised by its formula, not by its class: whoever writes an LSTM of their own gets cuDNN too, and
whoever changes one sign does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, cast

import torch

from elman.cells import Cell, Formulaic
from elman.cells.elman import elman, elman_relu
from elman.cells.gru import reset_after, reset_after_plain
from elman.cells.lstm import lstm
from elman.cells.lstm_variants import projected
from elman.formula import Formula, Node
from elman.formula.graph import substitute
from elman.formula.symbols import symbol
from elman.scan.packing import Packing, packing
from elman.shapes import Bool, Float, Tensor
from elman.state import State, map_state

# A cell keeps its matrices apart, so cuDNN copies them together at each call; that takes microseconds.
warnings.filterwarnings("ignore", message="RNN module weights are not part of single contiguous")

Kernel = Callable[..., tuple[Tensor, ...]]

KERNELS: tuple[tuple[Formula, Kernel], ...] = (
    (elman, torch.rnn_tanh),
    (elman_relu, torch.rnn_relu),
    (lstm, torch.lstm),
    (projected, torch.lstm),
    (reset_after, torch.gru),
    (reset_after_plain, torch.gru),
)


@dataclass(frozen=True)
class Match:
    """A kernel, and which of the cell's gates and states stand where the kernel expects its own."""

    kernel: Kernel
    gates: tuple[int, ...]
    states: tuple[int, ...]


def refusal(cell: Cell[Any]) -> str | None:
    if not isinstance(cell, Formulaic):
        return f"{type(cell).__name__} has no formula"
    if match(cell.formula) is None:
        return f"PyTorch has no kernel for the formula {cell.formula.name!r}"
    if len(cell.formula.trace.products) > 1 and len(set(cell.widths.values())) == 1:
        return "PyTorch projects to a smaller size only"
    return None


def fastest(cell: Cell[Any], mask: Tensor | None) -> bool:
    """Are PyTorch's kernels the fastest for this cell here?

    On CUDA yes. With gradients on the CPU only for the LSTM without padding, which runs on oneDNN
    (bench/recurrence.py measures what has no padding); the others step through autograd. Without
    gradients neither way was clearly ahead, so the kernels are kept.
    """
    cell = cast(Formulaic, cell)
    if cell.affine()[0].is_cuda or not torch.is_grad_enabled():
        return True
    matched = cast(Match, match(cell.formula))
    onednn = matched.kernel is torch.lstm and len(cell.formula.trace.products) == 1
    return onednn and (mask is None or bool(mask.all()))


@cache
def match(formula: Formula) -> Match | None:
    """The kernel that computes this formula, up to the names and the order of gates and states."""
    for known, kernel in KERNELS:
        if len(known.parameters) != len(formula.parameters) or formula.masks:
            continue
        for gates in permutations(formula.gates, len(known.gates)):
            for states in permutations(formula.states, len(known.states)):
                if _same(known, formula, gates, states):
                    order = tuple(formula.gates.index(g) for g in gates)
                    return Match(kernel, order, tuple(formula.states.index(s) for s in states))
    return None


def _same(
    known: Formula, formula: Formula, gates: tuple[str, ...], states: tuple[str, ...]
) -> bool:
    """Is ``known`` with these names for its gates and states the formula itself?"""
    if len(gates) != len(formula.gates) or len(states) != len(formula.states):
        return False
    state = dict(zip(known.states, states, strict=True))
    result = state | dict(zip(known.gates, gates, strict=True))
    unit = dict(zip(known.parameters, formula.parameters, strict=True))
    renamed = [("x", result), ("r", result), ("s", state), ("p", unit)]
    inputs = {symbol(k, a): symbol(k, b) for k, names in renamed for a, b in names.items()}
    return (
        state[known.output] == formula.output
        and {state[n]: substitute(a, inputs) for n, a in known.trace.new.items()}
        == dict(formula.trace.new)
        and _operands(known, inputs, result) == _operands(formula, {}, {})
    )


def _operands(
    formula: Formula, inputs: Mapping[Node, Node], names: Mapping[str, str]
) -> dict[str, Node]:
    """What each matrix multiplies."""
    return {
        names.get(n, n): substitute(product.operand, inputs)
        for product in formula.trace.products
        for n in product.names
    }


def run(
    cell: Cell[Any],
    xs: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "B T"] | None,
    state: State,
    reverse: bool,
) -> tuple[Tensor, State]:
    cell = cast(Formulaic, cell)
    packed = packing(xs, mask, reverse)
    if not sum(packed.sizes):
        return xs.new_zeros(*xs.shape[:2], cell.output_size), state
    matched = cast(Match, match(cell.formula))
    begin = packed.sort(state)
    rows = packed.sizes[0]
    hidden = [begin[j][:rows].unsqueeze(0).contiguous() for j in matched.states]  # for cuDNN
    weights = torch_weights(cell)
    ys, *final = _call(matched.kernel, packed, xs, hidden, weights)
    new = {cell.formula.states[j]: f[0] for j, f in zip(matched.states, final, strict=True)}
    end = State(**{name: new[name] for name in cell.formula.states})
    if rows < packed.rows:  # rows without a single token keep the state they came with
        end = map_state(lambda a, b: torch.cat((a, b[rows:])), end, begin)
    return ys, packed.unsort(end)


def _call(
    kernel: Kernel, packed: Packing, xs: Tensor, hidden: list[Tensor], weights: list[Tensor]
) -> tuple[Tensor, ...]:
    hx = hidden if kernel is torch.lstm else hidden[0]
    train = torch.is_grad_enabled()  # cuDNN keeps what its backward needs only when told
    options = (len(weights) > 3, 1, 0.0, train, False)  # biases, layers, dropout, train, two ways
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
    unit = cell.units()
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
