"""Weights from and to ``torch.nn.RNN``, ``LSTM`` and ``GRU``, exactly, where the formulas agree.

torch has two biases a gate, which act as their sum (a GRU's last gate excepted); Elman has one. So a layer
converted there and back is the same, and a state dict converted there and back computes the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from elman.cells import Cell, FormulaCell
from elman.errors import ModelError
from elman.layers.rnn import RNN, BiRNN, StackedRNN, concat
from elman.scan.executors.torch_kernels import match, torch_weights
from elman.shapes import Tensor

Layer = RNN | BiRNN | StackedRNN


def to_torch(layer: Layer) -> dict[str, Tensor]:
    """The state dict of the ``torch.nn`` module (``batch_first`` or not) that computes the same."""
    weights = {}
    cells = list(_cells(layer))
    _require_one_module([cell for _, cell in cells])
    for suffix, cell in cells:
        W, U, *rest = torch_weights(cell)
        names = ["bias_ih", "bias_hh"] if len(rest) > 1 else []
        names += ["weight_hr"] if len(rest) % 2 else []
        for name, tensor in zip(["weight_ih", "weight_hh", *names], [W, U, *rest], strict=True):
            weights[f"{name}_{suffix}"] = tensor.detach().clone()
    return weights


@torch.no_grad()
def from_torch(layer: Layer, weights: Mapping[str, Tensor]) -> None:
    """Give ``layer`` the weights of a ``torch.nn`` state dict; nothing is changed if any does not fit."""
    expected, cells = to_torch(layer), list(_cells(layer))
    for name, tensor in expected.items():
        if name not in weights:
            raise ModelError(f"the state dict has no {name!r}, which this layer needs")
        if weights[name].shape != tensor.shape:
            raise ModelError(f"{name!r} is {tuple(weights[name].shape)}, the layer needs {tuple(tensor.shape)}")
    extra = sorted(set(weights) - set(expected))
    if extra:
        raise ModelError(f"the state dict has {extra[0]!r}, for which this layer has no place")
    for suffix, cell in cells:
        _fill(cell, {k: weights[f"{k}_{suffix}"] for k in KEYS if f"{k}_{suffix}" in weights})


KEYS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _fill(cell: FormulaCell, given: dict[str, Tensor]) -> None:
    matched = match(cell.formula)
    assert matched is not None
    back = [matched.gates.index(g) for g in range(len(matched.gates))]

    def ours(t: Tensor) -> Tensor:
        return torch.cat([t.chunk(len(back))[i] for i in back])

    cell.W.copy_(ours(given["weight_ih"]))
    cell.U[0].copy_(ours(given["weight_hh"]))
    if "weight_hr" in given:
        cell.U[1].copy_(given["weight_hr"])
    if cell.b is not None:
        second = given["bias_hh"].clone()
        if len(cell.p):  # a GRU's last gate resets its second bias, so that one stays apart
            units = len(cell.p[0])
            cell.p[0].copy_(second[-units:])
            second[-units:] = 0
        cell.b.copy_(ours(given["bias_ih"] + second))


def _cells(layer: Layer) -> Iterator[tuple[str, FormulaCell]]:
    """Each cell with torch's suffix: ``l0``, ``l0_reverse``, …"""
    for k, level in enumerate([layer] if isinstance(layer, BiRNN) else layer.stack):
        if isinstance(level, BiRNN) and level.merge is concat:
            yield f"l{k}", _require_formula(level.forward_rnn.cell)
            yield f"l{k}_reverse", _require_formula(level.backward_rnn.cell)
        elif isinstance(level, RNN) and not level.reverse:
            yield f"l{k}", _require_formula(level.cell)
        else:
            raise ModelError(
                "torch.nn reads forwards, or both ways with concatenated outputs, and nothing else"
            )


def _require_one_module(cells: list[FormulaCell]) -> None:
    """A module of torch.nn has one formula, one width, and biases everywhere or nowhere."""
    first = cells[0]
    for cell in cells:
        if match(cell.formula) != match(first.formula):
            names = f"{first.formula.name!r} and {cell.formula.name!r}"
            raise ModelError(f"one module of torch.nn cannot hold both {names}")
        if set(cell.widths.values()) != set(first.widths.values()):
            raise ModelError("all layers of a module of torch.nn have the same width")
        if (cell.b is None) != (first.b is None) or (cell.b is None and len(cell.p)):
            raise ModelError("a module of torch.nn has biases in all its gates or in none")


def _require_formula(cell: Cell[Any]) -> FormulaCell:
    if not isinstance(cell, FormulaCell):
        raise ModelError(f"torch.nn has no {type(cell).__name__}")
    if match(cell.formula) is None or cell.heads > 1:
        formulas = "; ".join(cell.equations())
        raise ModelError(f"torch.nn computes another formula than {cell.formula.name!r}: {formulas}")
    return cell
