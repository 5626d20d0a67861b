"""ONNX's recurrent operators, run by ONNX's reference evaluator and read as Elman's cells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from agreement import apart, assert_agree, executors, fill, reordered
from onnx import NodeProto, helper
from onnx.reference import ReferenceEvaluator
from torch import Tensor

from elman.cells import GRU, LSTM, CoupledLSTM, Elman, FormulaCell, PeepholeLSTM, ResetAfterGRU
from elman.scan import scan
from elman.state import State

INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
READ = {"hidden_size", "direction", "layout", "linear_before_reset", "input_forget"}
Arrays = Mapping[str, np.ndarray]


def node(op: str, inputs: Arrays, **attributes: Any) -> NodeProto:
    """One node with these inputs and all outputs."""
    places = INPUTS if op == "LSTM" else INPUTS[:6]
    outputs = ["Y", "Y_h", "Y_c"] if op == "LSTM" else ["Y", "Y_h"]
    names = [name if name in inputs else "" for name in places]
    hidden = inputs["R"].shape[-1]
    return helper.make_node(op, names, outputs, hidden_size=hidden, **attributes)


def by_onnx(node: NodeProto, inputs: Arrays) -> dict[str, Tensor]:
    """The outputs by name, from the reference evaluator."""

    def value(name: str, kind: int) -> Any:
        return helper.make_tensor_value_info(name, kind, None)

    def kind(name: str) -> int:
        return helper.np_dtype_to_tensor_dtype(inputs[name].dtype)

    takes = [value(name, kind(name)) for name in inputs]
    gives = [value(name, kind("X")) for name in node.output]
    model = helper.make_model(helper.make_graph([node], "one", takes, gives))
    found = ReferenceEvaluator(model).run(None, dict(inputs))
    return {n: torch.tensor(y) for n, y in zip(node.output, found, strict=True)}


def attributes_of(node: NodeProto) -> dict[str, Any]:
    found = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    assert set(found) <= READ, f"{node.op_type} has attributes that are not read: {set(found)}"
    return found


def cells_of(node: NodeProto, inputs: Arrays) -> list[FormulaCell]:
    """A cell for each direction of the node."""
    weights = {name: torch.tensor(inputs[name]) for name in ("W", "R", "B", "P") if name in inputs}
    directions = len(inputs["W"])
    return [cell_from(node, {n: w[k] for n, w in weights.items()}) for k in range(directions)]


def cell_from(node: NodeProto, weights: Mapping[str, Tensor]) -> FormulaCell:
    """The cell with one direction's weights; ONNX's gates are i o f c, or z r h, its peepholes i o f."""
    options = attributes_of(node)
    W, R, B, P = (weights.get(name) for name in "WRBP")
    make_cell, order = {
        "RNN": (Elman, (0,)),
        "GRU": (ResetAfterGRU if options.get("linear_before_reset") else GRU, (1, 0, 2)),
        "LSTM": (LSTM if P is None else PeepholeLSTM, (0, 2, 3, 1)),
    }[node.op_type]
    cell = make_cell(W.shape[-1], R.shape[-1], bias=B is not None)
    b, p = None, [] if P is None else reordered(P, (0, 2, 1)).chunk(3)
    if B is not None:
        biases = torch.stack([reordered(half, order) for half in B.chunk(2)])
        b = biases.sum(0)
        if make_cell is ResetAfterGRU:
            b, *p = apart(biases, R.shape[-1])
    U = reordered(R, order).split([len(matrix) for matrix in cell.U])
    fill(cell, reordered(W, order), U, b, p)
    return coupled(cell) if options.get("input_forget") else cell


def coupled(cell: FormulaCell) -> CoupledLSTM:
    """The cell with f, z, o of an LSTM that has i = 1 - f."""
    assert type(cell) is LSTM
    rows = cell.widths["h"]
    result = CoupledLSTM(cell.input_size, rows, bias=cell.b is not None)
    fill(result, cell.W[rows:], [cell.U[0][rows:]], None if cell.b is None else cell.b[rows:])
    return result


def by_elman(node: NodeProto, inputs: Arrays, cells: list[FormulaCell], executor: str) -> dict[str, Tensor]:
    """The outputs by name, from scan: a direction a cell, batch first inside."""
    options, tensors = attributes_of(node), {n: torch.tensor(a) for n, a in inputs.items()}
    swap = options.get("layout", 0) == 0
    xs = tensors["X"].transpose(0, 1) if swap else tensors["X"]
    lengths = tensors.get("sequence_lens")
    mask = None if lengths is None else torch.arange(xs.shape[1]) < lengths[:, None]
    backwards = {b"forward": [False], b"reverse": [True], b"bidirectional": [False, True]}
    ys, final = [], []
    for k, reverse in enumerate(backwards[options.get("direction", b"forward")]):
        start = {n: t.select(0 if swap else 1, k) for n, t in tensors.items() if "initial_" in n}
        zero = cells[k].initial(xs)
        state = State(**{n: start.get(f"initial_{n}", getattr(zero, n)) for n in zero.names})
        with torch.no_grad():
            y, end = scan(cells[k], xs, mask, state, reverse=reverse, executor=executor)
        ys.append(y)
        final.append(end)
    outputs = {f"Y_{n}": torch.stack(t, 0 if swap else 1) for n, t in by_part(final).items()}
    return {"Y": torch.stack(ys, 2).permute(1, 2, 0, 3) if swap else torch.stack(ys, 2), **outputs}


def by_part(states: list[State]) -> dict[str, list[Tensor]]:
    return {name: [getattr(s, name) for s in states] for name in states[0].names}


def agree(node: NodeProto, inputs: Arrays, theirs: Mapping[str, Tensor]) -> None:
    """Every executor that accepts the cells of the node has these outputs."""
    cells = cells_of(node, inputs)
    for executor in executors(cells[0]):
        mine = by_elman(node, inputs, cells, executor)
        assert_agree({name: mine[name] for name in theirs}, theirs, executor)
