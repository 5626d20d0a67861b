"""Elman's cells against Keras: SimpleRNN, LSTM and both kinds of GRU; masks, both ways, initial states.

In single precision only: the products of Keras round to it, whatever the dtype of a layer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from agreement import apart, assert_agree, executors, fill, reordered
from torch import Tensor

from elman.cells import GRU, LSTM, Elman, FormulaCell, ReLUElman, ResetAfterGRU
from elman.scan import scan
from elman.state import State

D, H, ROWS, STEPS = 3, 5, 4, 6

# The layer and its options, our cell, and where our gates stand among those of Keras:
# i f c o are our i f z o; z r h, with h' = z h + (1 - z) n as ours, are our r z n in another order.
PAIRS: dict[str, tuple[str, dict[str, Any], type[FormulaCell], tuple[int, ...]]] = {
    "SimpleRNN tanh": ("SimpleRNN", {"activation": "tanh"}, Elman, (0,)),
    "SimpleRNN relu": ("SimpleRNN", {"activation": "relu"}, ReLUElman, (0,)),
    "LSTM": ("LSTM", {}, LSTM, (0, 1, 2, 3)),
    "GRU reset before": ("GRU", {"reset_after": False}, GRU, (1, 0, 2)),
    "GRU reset after": ("GRU", {"reset_after": True}, ResetAfterGRU, (1, 0, 2)),
}
# Padding after, padding before, padding between, nothing but padding.
MASK = torch.tensor([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1], [1, 0, 0, 1, 0, 1], [0] * STEPS]) > 0

each_pair = pytest.mark.parametrize("kind", PAIRS)
both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "go_backwards"])


@each_pair
@both_ways
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_outputs_and_final_states_are_those_of_keras(kind, reverse, bias):
    layer, cell = pair(kind, use_bias=bias, go_backwards=reverse)
    agree(layer, cell, None, initial(cell))


@each_pair
@both_ways
def test_masks_are_those_of_keras(kind, reverse):
    # Keras repeats the last output at padding unless it is told to write zeros, as scan does.
    layer, cell = pair(kind, go_backwards=reverse, zero_output_for_mask=True)
    agree(layer, cell, MASK, initial(cell))


@each_pair
def test_without_an_initial_state_both_start_at_zero(kind):
    layer, cell = pair(kind, zero_output_for_mask=True)
    agree(layer, cell, None, None)
    agree(layer, cell, MASK, None)


def pair(kind: str, **options: Any) -> tuple[Any, FormulaCell]:
    """A layer of Keras with random weights, biases too, and the cell with the same weights."""
    import keras  # takes seconds, which only those who run these tests should pay for

    name, more, *_ = PAIRS[kind]
    make_layer = getattr(keras.layers, name)
    layer = make_layer(H, return_sequences=True, return_state=True, **more, **options)
    layer.build((ROWS, STEPS, D))
    rng = np.random.default_rng(3)
    for weight in layer.weights:
        weight.assign(rng.normal(scale=0.6, size=weight.shape))
    return layer, cell_from(layer, kind)


def cell_from(layer: Any, kind: str) -> FormulaCell:
    *_, make_cell, order = PAIRS[kind]
    cell = make_cell(D, H, bias=layer.use_bias)
    kernel, recurrent, *biases = (weight.value.detach().cpu() for weight in layer.weights)
    b, p = None, []
    if biases and biases[0].dim() == 2:
        b, *p = apart(torch.stack([reordered(row, order) for row in biases[0]]), H)
    elif biases:
        b = reordered(biases[0], order)
    U = reordered(recurrent.T, order).split([len(matrix) for matrix in cell.U])
    fill(cell, reordered(kernel.T, order), U, b, p)
    return cell


def initial(cell: FormulaCell) -> State:
    generator = torch.Generator().manual_seed(5)
    return State(**{n: torch.randn(ROWS, H, generator=generator) for n in cell.formula.states})


def agree(layer: Any, cell: FormulaCell, mask: Tensor | None, state: State | None) -> None:
    xs = torch.randn(ROWS, STEPS, D, generator=torch.Generator().manual_seed(7))
    theirs = by_keras(layer, xs, mask, state)
    for executor in executors(cell):
        with torch.no_grad():
            ys, final = scan(cell, xs, mask, state, reverse=layer.go_backwards, executor=executor)
        assert_agree({"ys": ys, **dict(zip(final.names, final, strict=True))}, theirs, executor)


def by_keras(layer: Any, xs: Tensor, mask: Tensor | None, state: State | None) -> dict[str, Tensor]:
    """Outputs at the positions of their inputs (Keras leaves them in the order of reading), final state."""
    given = {
        "mask": None if mask is None else mask.numpy(),
        "initial_state": None if state is None else [part.numpy() for part in state],
    }
    results = layer(xs.numpy(), **given)
    ys, *final = (t.detach().cpu() for t in results)
    ys = ys.flip(1) if layer.go_backwards else ys
    return {"ys": ys, **dict(zip("hc", final, strict=False))}
