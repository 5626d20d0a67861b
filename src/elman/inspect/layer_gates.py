"""The gates of every layer of a network while it reads one text, and how open they stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from elman.cells import Residual
from elman.inspect.gate_trace import Arrays, formulaic, trace_gates
from elman.layers.rnn import RNN, BiRNN, StackedRNN
from elman.shapes import Float, Tensor

CLOSED, OPEN = 0.1, 0.9  # Karpathy et al. 2016


@dataclass(frozen=True)
class LayerGates:
    """What one layer did in one direction: arrays (T, H) by the names of gates and states."""

    layer: int  # from 1
    direction: str  # forward, or backward
    values: Arrays
    states: tuple[str, ...]  # which of the names are states
    output: str  # which of them the layer writes

    @property
    def name(self) -> str:
        return f"layer {self.layer} {self.direction}"


@torch.no_grad()
def layer_gates(layers: RNN | StackedRNN, xs: Float[Tensor, "1 T D"]) -> list[LayerGates]:
    """The gates of each layer and direction over the x_i of one text, from the lowest layer up."""
    found, stack = [], layers.stack
    residual = layers.adds if isinstance(layers, StackedRNN) else [False] * len(stack)
    for number, (layer, adds) in enumerate(zip(stack, residual, strict=True), 1):
        for direction, rnn in _directions(layer):
            own = rnn.cell.cell if isinstance(rnn.cell, Residual) else rnn.cell
            cell = formulaic(own.sample_masks(xs))
            values = {name: array[0] for name, array in trace_gates(cell, xs, reverse=rnn.reverse).items()}
            found.append(LayerGates(number, direction, values, tuple(cell.formula.states), cell.formula.output))
        ys, _ = layer(xs)
        xs = xs + ys if adds else ys
    return found


def _directions(layer: RNN | BiRNN) -> list[tuple[str, RNN]]:
    if isinstance(layer, BiRNN):
        return [("forward", layer.forward_rnn), ("backward", layer.backward_rnn)]
    return [("backward" if layer.reverse else "forward", layer)]


@dataclass(frozen=True)
class Saturation:
    """How far a gate is from halfway: of its absolute values, over all units and tokens."""

    mean: float
    closed: float  # percent below 0.1
    open: float  # percent above 0.9


def saturation(values: Arrays) -> dict[str, Saturation]:
    """A row of numbers for each gate and state of a layer."""
    return {
        name: Saturation(
            float(size.mean()), 100 * float((size < CLOSED).mean()), 100 * float((size > OPEN).mean())
        )
        for name, size in ((name, np.abs(array)) for name, array in values.items())
    }
