"""What printed programs know of a recurrence in which each unit reads its own past alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from elman.formula import Derivative, Formula, Node, derivative
from elman.formula.formula import Trace
from elman.formula.structure import Structure, find_structure
from elman.formula.symbols import constant, is_input
from elman.formula.traversal import is_rowless, order_values


@dataclass(frozen=True)
class UnitPlan:
    """The forward and backward step of one unit, as values; the same for equal formulas in every process."""

    formula: Formula

    @cached_property
    def trace(self) -> Trace:
        trace = Trace((), self.formula.trace.new)
        trace.__dict__["nodes"] = tuple(order_values(trace.new.values()))
        return trace

    @cached_property
    def structure(self) -> Structure:
        return find_structure(self.formula)

    @cached_property
    def derivative(self) -> Derivative:
        return derivative(self.trace)

    def gradient(self, kind: str, name: str) -> Node:
        """dL/d of a gate's input (x), an old state (s) or a per-unit parameter (p); zero if it is not read."""
        found: Node = getattr(self.derivative, kind).get(name, constant(0))
        return found

    @cached_property
    def gradients(self) -> list[Node]:
        """All that a backward step computes."""
        return [a for part in vars(self.derivative).values() for a in part.values()]

    @cached_property
    def history(self) -> tuple[str, ...]:
        """The states whose old values a backward step reads."""
        read = {a.args[1] for a in order_values(self.gradients) if is_input(a, "s")}
        return tuple(name for name in self.formula.states if name in read)

    def find_source(self, name: str) -> str | None:
        """The gate that a state takes over as it is: its old values lie in the input already."""
        a = self.trace.new[name]
        return a.args[1] if is_input(a, "x") else None

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The states that a forward pass writes down for the way back beside its output."""
        output = self.formula.output
        return tuple(n for n in self.history if n != output and self.find_source(n) is None)

    def find_hoisted(self, values: Sequence[Node]) -> list[Node]:
        """What is made of per-unit parameters alone and read by what is not: computed once, not each step."""
        made = [a for a in order_values(values) if a.operands and is_rowless(a)]
        read = {o for a in order_values(values) if a.operands and not is_rowless(a) for o in a.operands}
        return [a for a in made if a in read or a in values]
