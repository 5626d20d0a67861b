"""The gates of every layer of a network while it reads one text, and how open they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch

from elman.cells import Cell, Formulaic, Residual
from elman.formula import Formula
from elman.inspect.gate_kinds import value_kinds
from elman.inspect.gate_trace import Arrays, formulaic, trace_gates, trace_steps
from elman.layers.rnn import RNN, BiRNN, StackedRNN
from elman.shapes import Float, Tensor
from elman.tasks.results import DecoderPass, LayerPass

CLOSED, OPEN = 0.1, 0.9  # Karpathy et al. 2016


@dataclass(frozen=True)
class LayerGates:
    """What one layer did in one direction: arrays (T, H) by the names of gates and states."""

    layer: int  # from 1
    direction: str  # forward, or backward
    values: Arrays
    states: tuple[str, ...]  # which of the names are states
    output: str  # which of them the layer writes
    kinds: Mapping[str, str] = field(default_factory=dict)  # gate, candidate, state, by name
    part: str = ""  # of the network: encoder, decoder, first text; "" where there is one
    tokens: Sequence[str] = ()  # what was read, where it is not the text

    @property
    def name(self) -> str:
        return f"{self.part} layer {self.layer} {self.direction}".strip()

    def label(self, name: str) -> str:
        """One of the names with what it is: ``gate f``, ``candidate z``."""
        kind = "state" if name in self.states else self.kinds.get(name, "gate")
        return f"{kind} {name}"


@torch.no_grad()
def layer_gates(layers: RNN | StackedRNN, xs: Float[Tensor, "1 T D"]) -> list[LayerGates]:
    """The gates of each layer and direction over the x_i of one text, from the lowest layer up."""
    return [_trace_layer(one, formulaic(one.cell)) for one in walk_layers(layers, xs)]


class LayerInput(NamedTuple):
    """A cell of one layer and direction, and what it reads."""

    layer: int  # from 1
    direction: str  # forward, or backward: it reads from the end
    cell: Cell[Any]  # without what is around it in training
    xs: Float[Tensor, "1 T D"]


@torch.no_grad()
def walk_layers(layers: RNN | StackedRNN, xs: Float[Tensor, "1 T D"]) -> Iterator[LayerInput]:
    """Every layer and direction with what it reads of one text, from the lowest layer up."""
    stack = layers.stack
    residual = layers.adds if isinstance(layers, StackedRNN) else [False] * len(stack)
    for number, (layer, adds) in enumerate(zip(stack, residual, strict=True), 1):
        for direction, rnn in _directions(layer):
            own = rnn.cell.cell if isinstance(rnn.cell, Residual) else rnn.cell
            yield LayerInput(number, direction, own.sample_masks(xs), xs)
        ys, _ = layer(xs)
        xs = xs + ys if adds else ys


def pass_gates(seen: LayerPass) -> list[LayerGates]:
    """The gates of recurrent layers while they read a sequence; a cell without a formula has none to show."""
    read = [one for one in walk_layers(seen.layers, seen.xs) if isinstance(one.cell, Formulaic)]
    gates = [_trace_layer(one, formulaic(one.cell)) for one in read]
    return [replace(one, part=seen.part, tokens=seen.tokens) for one in gates]


def decoder_gates(written: DecoderPass) -> list[LayerGates]:
    """The gates of each layer of a decoder while it wrote one sequence; a token stands where it was read."""
    found = []
    for number, cell in enumerate(written.cells, 1):
        values = {name: array[0] for name, array in trace_steps(cell).items()}
        gates = _gates(number, "forward", cell.cell.formula, values)
        found.append(replace(gates, part="decoder", tokens=written.tokens))
    return found


def _trace_layer(read: LayerInput, cell: Formulaic) -> LayerGates:
    arrays = trace_gates(cell, read.xs, reverse=read.direction == "backward")
    return _gates(read.layer, read.direction, cell.formula, {name: a[0] for name, a in arrays.items()})


def _gates(number: int, direction: str, formula: Formula, values: Arrays) -> LayerGates:
    kinds = value_kinds(formula)
    return LayerGates(number, direction, values, tuple(formula.states), formula.output, kinds)


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
