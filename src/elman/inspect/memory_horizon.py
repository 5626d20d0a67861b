"""How far back each unit remembers: the gradient of its output by what was read k steps before.

r(k) = ‖∂h_t / ∂x_{t-k}‖, meaned over some positions t in the second half of a text. The horizon of a unit is
the largest k at which r(k) is at least a tenth of its strongest value. x is what the layer itself reads: the
memory of the layers below is not counted to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from elman.cells import Cell
from elman.inspect.layer_gates import walk_layers
from elman.layers.rnn import RNN, StackedRNN
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import eval_mode
from elman.tasks.base import Task

FADED = 0.1  # of the strongest gradient: below, something counts as forgotten
POSITIONS = 8  # of a text that are looked back from
UNITS, TOKENS = 256, 200  # of a layer and of a text that are measured at most

Influence = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LayerMemory:
    """What the units of one layer and direction remember of a text."""

    name: str
    units: list[int]  # which of the layer were measured
    influence: Influence  # (U, K): r(k) of each
    direction: str = "forward"  # backward: k counts the tokens ahead

    @property
    def relative(self) -> Influence:
        """r(k) as a share of each unit's strongest; zero of a unit that nothing reaches."""
        strongest = self.influence.max(1, keepdims=True)
        return self.influence / np.where(strongest > 0, strongest, 1)

    @property
    def horizons(self) -> npt.NDArray[np.int64]:
        """(U,) how many steps back each unit remembers."""
        lags = np.arange(self.influence.shape[1])
        horizons: npt.NDArray[np.int64] = np.where(self.relative >= FADED, lags, 0).max(1)
        return horizons

    @property
    def longest(self) -> int:
        """The most that could have been seen, as the text is no longer."""
        return int(self.influence.shape[1]) - 1


def text_memory(task: Task, text: str) -> list[LayerMemory]:
    """The memory of every recurrent layer that reads a text, of its last 200 tokens at most."""
    with eval_mode(task.net):
        passes = task.trace(text, None).passes
        return [memory for one in passes for memory in layer_memory(one.layers, one.xs, part=one.part)]


def layer_memory(layers: RNN | StackedRNN, xs: Float[Tensor, "1 T D"], *, part: str = "") -> list[LayerMemory]:
    """The memory of each layer and direction over the x_i of one text, from the lowest layer up."""
    found = []
    for one in walk_layers(layers, xs):
        name = f"{part} layer {one.layer} {one.direction}".strip()
        read = one.xs.flip(1) if one.direction == "backward" else one.xs
        units = np.linspace(0, one.cell.output_size - 1, min(UNITS, one.cell.output_size)).astype(int).tolist()
        influence = unit_influence(one.cell, read[:, -TOKENS:], units)
        found.append(LayerMemory(name, units, influence, one.direction))
    return found


def unit_influence(cell: Cell[Any], xs: Float[Tensor, "1 T D"], units: list[int]) -> Influence:
    """(U, T): r(k) of some units, from k = 0 to the length of the text.

    Each unit has a row of the batch to itself: one backward pass gives the gradients of all.
    """
    steps, rows = xs.shape[1], torch.arange(len(units), device=xs.device)
    total, count = np.zeros((len(units), steps)), np.zeros(steps)
    with torch.enable_grad():
        copies = xs.detach().expand(len(units), -1, -1).clone().requires_grad_()
        ys, _ = scan(cell, copies)
        for t in np.unique(np.linspace(steps // 2, steps - 1, POSITIONS).astype(int)).tolist():
            score = ys[rows, t, units].sum()
            (gradient,) = torch.autograd.grad(score, copies, retain_graph=True)
            norms = gradient[:, : t + 1].double().norm(dim=-1).flip(1)
            total[:, : t + 1] += norms.cpu().numpy()
            count[: t + 1] += 1
    influence: Influence = total / count
    return influence
