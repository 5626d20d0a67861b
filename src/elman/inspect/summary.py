"""What a network is made of: its layers with their shapes and parameters, and the formulas of its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from torch import nn

from elman.cells import Formulaic
from elman.cells.formulaic import WrappedCell
from elman.shapes import Tensor


@dataclass(frozen=True)
class LayerSummary:
    """A part of a network that has weights of its own."""

    name: str  # as the names of its weights in model.safetensors begin
    kind: str
    weights: dict[str, tuple[int, ...]]  # shapes
    fixed: dict[str, tuple[int, ...]]  # what is stored but not trained, such as pretrained vectors

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(map(prod, self.weights.values()))


def summarize_layers(net: nn.Module) -> list[LayerSummary]:
    """Every part that has weights, in the order in which they are stored."""
    found = []
    for path, module in net.named_modules():
        if isinstance(module, nn.ParameterList):  # belongs to the cell that holds it
            continue
        own, stored = [*module.named_buffers(recurse=False), *_own(module)], module.state_dict(keep_vars=True)
        frozen = ((n, t) for n, t in own if n in stored and t.is_floating_point() and not t.requires_grad)
        fixed = {name: tuple(t.shape) for name, t in frozen}
        weights = {name: tuple(t.shape) for name, t in _own(module) if t.requires_grad}
        if weights or fixed:
            # A cell in a cell, the matrix in an embedding: one layer to those who use it.
            name = re.sub(r"(\.cell)+$|\.E$", "", path)
            found.append(LayerSummary(name, type(module).__name__, weights, fixed))
    return found


def _own(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from module.named_parameters(recurse=False)
    for name, child in module.named_children():
        if isinstance(child, nn.ParameterList):
            for number, weight in child.named_parameters():
                yield f"{name}.{number}", weight


def cell_equations(net: nn.Module) -> dict[str, list[str]]:
    """The equations of every kind of cell, by name; what is around a cell and changes its formula is one."""
    found: dict[str, list[str]] = {}
    seen: set[nn.Module] = set()
    for module in net.modules():  # the outer before the inner
        if module in seen or not isinstance(module, Formulaic):
            continue
        if not (isinstance(module, WrappedCell) and module.formula is module.cell.formula):
            seen.update(module.modules())
            found[type(module).__name__] = module.equations()
    return found
