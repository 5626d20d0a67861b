"""In which order and in how many loops a step is computed, one unit at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from elman.formula.equations import values
from elman.formula.formula import Formula
from elman.formula.formula_data import list_values
from elman.formula.operation import OPS
from elman.formula.symbols import Node, is_input
from elman.formula.traversal import is_uniform


@dataclass(frozen=True)
class StepPlan:
    """When and how wide each value is computed.

    A product or a reduction needs all units of its operand: values after it are of a later stage. The values of
    a stage that are equally wide are computed in one loop.
    """

    formula: Formula
    widths: Mapping[str, int]

    @cached_property
    def place(self) -> dict[Node, int]:
        return list_values(self.formula.trace)[1]

    @cached_property
    def product(self) -> dict[str, int]:
        """The number of the product that gives each result."""
        return {n: k for k, p in enumerate(self.formula.trace.products) for n in p.names}

    @cached_property
    def stage(self) -> dict[Node, int]:
        found: dict[Node, int] = {}
        for a in self.formula.trace.nodes:
            if is_input(a, "r"):
                found[a] = found[self.formula.trace.products[self.product[a.args[1]]].operand] + 1
            else:
                found[a] = max((found[o] for o in a.operands), default=0) + takes_all_units(a)
        return found

    @cached_property
    def width(self) -> dict[Node, int | None]:
        """How many units each value has; None where it is the same at every unit."""
        found: dict[Node, int | None] = {}
        for a in self.formula.trace.nodes:
            if a.op == "input":
                kind, name = a.args
                found[a] = self.widths[self.formula.gates[0] if kind == "p" else name]
            else:
                wide = [] if is_uniform(a) else [w for o in a.operands if (w := found[o]) is not None]
                found[a] = next(iter(wide), None)
        return found

    @cached_property
    def stored(self) -> list[Node]:
        """What others than its own loop read."""
        trace = self.formula.trace
        kept = {*values(self.formula).values(), *(p.operand for p in trace.products), *trace.new.values()}
        for a, readers in trace.uses.items():
            whole = takes_all_units(a) or any(map(takes_all_units, readers))
            if whole or any(self.stage[b] != self.stage[a] for b in readers):
                kept.add(a)
        return [a for a in trace.nodes if a in kept and a.operands and self.width[a] is not None]


def takes_all_units(a: Node) -> bool:
    """Is it of a whole vector, not of one unit at a time?"""
    return bool(a.operands) and not OPS[a.op].c
