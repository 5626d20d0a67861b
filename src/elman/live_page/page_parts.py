"""What the parts of a page share: weights, formulas, and how each kind of part is described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from elman.cells import Formulaic
from elman.errors import ModelError
from elman.formula import Formula
from elman.formula.javascript import PrintedStep, print_step
from elman.live_page.formula_json import formula_to_json
from elman.live_page.weight_table import WeightTable
from elman.shapes import Tensor

Describer = Callable[[Any, "PageParts"], Any]
"""From a layer to what JSON can hold."""


@dataclass(frozen=True)
class PageParts:
    """The weights and formulas of a page; ``describers`` says what can stand in it."""

    describers: Mapping[type, Describer]
    weights: WeightTable
    formulas: list[Formula] = field(default_factory=list)
    steps: dict[str, PrintedStep] = field(default_factory=dict)

    def describe(self, part: Any) -> Any:
        """A part of a task's blueprint as JSON: tensors and formulas by their numbers."""
        if isinstance(part, Mapping):
            return {name: self.describe(value) for name, value in part.items()}
        if isinstance(part, list | tuple):
            return [self.describe(value) for value in part]
        if part is None or isinstance(part, str | int | float):
            return part
        if isinstance(part, Tensor):
            return self.weights.add(part.detach())
        for kind, describe in self.describers.items():
            if isinstance(part, kind):
                return describe(part, self)
        raise ModelError(f"the model has a {type(part).__name__}, which a page cannot run")

    def add_formula(self, formula: Formula) -> dict[str, int]:
        """How the page names a formula; layers that are alike share it."""
        if formula not in self.formulas:
            self.formulas.append(formula)
        return {"$formula": self.formulas.index(formula)}

    def add_step(self, cell: Formulaic) -> str:
        """The name of the step of a cell."""
        step = print_step(cell.formula, cell.widths)
        for name, other in self.steps.items():
            if other == step:
                return name
        name = f"{cell.formula.name}_{len(self.steps)}"
        self.steps[name] = step
        return name

    def formulas_to_json(self) -> list[dict[str, Any]]:
        """The formulas by number."""
        return [formula_to_json(formula) for formula in self.formulas]
