"""Elman's cells against ONNX's reference evaluator, on one-node models with random weights.

The evaluator's RNN knows no ReLU (torch.nn and Keras do), and all its operators ignore ``sequence_lens``
and ``input_forget``: the tests of these two say how it computes them all the same.
"""

from __future__ import annotations

import numpy as np
import pytest
from agreement import assert_agree, executors
from onnx_nodes import agree, by_elman, by_onnx, cells_of, node

import elman.cells as ours

D, H, ROWS, STEPS = 3, 4, 3, 5
BATCHED = ("X", "initial_h", "initial_c")

# Operator, attributes, optional inputs, and our cell.
KINDS: dict[str, tuple[str, dict[str, int], str, type]] = {
    "RNN": ("RNN", {}, "", ours.Elman),
    "LSTM": ("LSTM", {}, "", ours.LSTM),
    "LSTM with peepholes": ("LSTM", {}, "P", ours.PeepholeLSTM),
    "GRU": ("GRU", {"linear_before_reset": 0}, "", ours.GRU),
    "GRU linear before reset": ("GRU", {"linear_before_reset": 1}, "", ours.ResetAfterGRU),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
each_direction = pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
both_types = pytest.mark.parametrize("dtype", ["float32", "float64"])


@each_kind
@each_direction
@both_types
@pytest.mark.parametrize("optional", ["", "B", "initial_h initial_c", "B initial_h initial_c"])
def test_cells_compute_what_the_reference_evaluator_does(kind, direction, dtype, optional):
    op, attributes, more, cell = KINDS[kind]
    inputs = random_inputs(op, direction, dtype, f"{optional} {more}")
    one = node(op, inputs, direction=direction, **attributes)
    assert {type(c) for c in cells_of(one, inputs)} == {cell}
    agree(one, inputs, by_onnx(one, inputs))


@each_kind
@each_direction
def test_layout_1_has_the_batch_first(kind, direction):
    op, attributes, more, _ = KINDS[kind]
    inputs = random_inputs(op, direction, "float64", f"B initial_h initial_c {more}")
    turned = {n: a.swapaxes(0, 1) if n in BATCHED else a for n, a in inputs.items()}
    one = node(op, turned, direction=direction, layout=1, **attributes)
    agree(one, turned, by_onnx(one, turned))


@each_kind
@each_direction
@both_types
def test_sequence_lens_are_rows_cut_to_their_lengths(kind, direction, dtype):
    op, attributes, more, _ = KINDS[kind]
    lengths = np.array([2, STEPS, 1], dtype=np.int32)
    inputs = random_inputs(op, direction, dtype, f"B initial_h initial_c {more}")
    inputs["sequence_lens"] = lengths
    one = node(op, inputs, direction=direction, **attributes)
    cells = cells_of(one, inputs)
    for executor in executors(cells[0]):
        whole = by_elman(one, inputs, cells, executor)
        for row, length in enumerate(lengths):
            batch = slice(row, row + 1)
            cut = inputs | {n: inputs[n][:, batch] for n in BATCHED if n in inputs}
            cut |= {"X": cut["X"][:length], "sequence_lens": lengths[batch]}
            mine = {n: y[..., batch, :] for n, y in whole.items()}
            assert not mine["Y"][length:].any()
            assert_agree(mine | {"Y": mine["Y"][:length]}, by_onnx(one, cut), executor)


@each_direction
@both_types
@pytest.mark.parametrize("optional", ["", "B initial_h initial_c"])
def test_coupled_gates_are_those_of_input_forget(direction, dtype, optional):
    # ONNX does not say whether input_forget makes i = 1 - f or f = 1 - i. Since 1 - σ(a) = σ(-a), a node
    # whose i is fed with the opposite of what f is fed with has both, and has them even when the
    # attribute is ignored.
    inputs = random_inputs("LSTM", direction, dtype, optional)
    for name in {"W", "R", "B"} & set(inputs):
        i, _, f, _ = range(4)
        gates = inputs[name].reshape(len(inputs[name]), -1, 4, H, *inputs[name].shape[2:])
        gates[:, :, i] = -gates[:, :, f]
    one = node("LSTM", inputs, direction=direction, input_forget=1)
    assert {type(c) for c in cells_of(one, inputs)} == {ours.CoupledLSTM}
    agree(one, inputs, by_onnx(one, inputs))


def random_inputs(op: str, direction: str, dtype: str, optional: str) -> dict[str, np.ndarray]:
    """X, W, R and those optional inputs that the operator has."""
    rng = np.random.default_rng(3)
    directions = 2 if direction == "bidirectional" else 1
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    state = (directions, ROWS, H)
    shapes = {
        "X": (STEPS, ROWS, D),
        "W": (directions, gates * H, D),
        "R": (directions, gates * H, H),
        "B": (directions, 2 * gates * H),
        "initial_h": state,
        "initial_c": state,
        "P": (directions, 3 * H),
    }
    wanted = {"X", "W", "R", *optional.split()} - ({"initial_c"} if op != "LSTM" else set())
    return {n: rng.normal(size=s).astype(dtype) for n, s in shapes.items() if n in wanted}
