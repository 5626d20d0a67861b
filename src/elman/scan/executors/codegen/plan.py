"""Which values of a formula are computed when, and where they are kept between the two passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from elman.formula import Formula, Node, derivative
from elman.formula.derivative import Linear, linear
from elman.formula.operation import OPS
from elman.formula.symbols import is_input
from elman.scan.executors.codegen.accumulation import Accumulation, find_sums


@dataclass(frozen=True)
class Plan:
    """Where each value of a formula is kept. ``widths`` of states and gates, by name."""

    formula: Formula
    widths: Mapping[str, int]
    heads: int = 1

    @cached_property
    def linear(self) -> Linear:
        return linear(derivative(self.formula.trace))

    @cached_property
    def coefficients(self) -> list[Node]:
        """What the backward pass multiplies gradients with, and the operands of the products."""
        parts = vars(self.linear).values()  # sums, x, r, s, p
        found = [k for part in parts for form in part.values() for k in form.values()]
        return [*found, *(p.operand for p in self.formula.trace.products)]

    @cached_property
    def recurrent(self) -> set[Node]:
        """The values that change with the recurrence; the others can be computed before the loop."""
        inside: set[Node] = set()
        for a in self.formula.trace.nodes:
            if is_input(a, "rs") or inside.intersection(a.operands):
                inside.add(a)
        return inside

    @cached_property
    def backward_values(self) -> set[Node]:
        """The values of the loop that the backward pass reads. It recomputes sums and products."""
        kept: set[Node] = set()
        seen: set[Node] = set()
        waiting = [*self.coefficients]
        while waiting:
            a = waiting.pop()
            if a in self.recurrent and (_has(a, "kept") or a in self.states or self.slot(a)):
                kept.add(a)
            elif a not in seen:
                waiting += a.operands
            seen.add(a)
        return kept

    @cached_property
    def states(self) -> dict[Node, str]:
        """The nodes that are new states; of a node that is two, the first."""
        return {a: name for name, a in reversed([*self.formula.trace.new.items()])}

    def slot(self, a: Node) -> str | None:
        """The product result that holds ``a`` as it comes out: r, or its sum with what it is added to."""
        names = (name for product in self.formula.trace.products for name in product.names)
        return next((name for name in names if a is self.sums.result(name)), None)

    @cached_property
    def sums(self) -> Accumulation:
        return find_sums(self.formula.trace)

    @cached_property
    def additive(self) -> frozenset[str]:
        """The gates whose part of the input is only added to a product."""
        return frozenset(a.args[1] for a in self.sums.bases.values() if is_input(a, "x"))

    @cached_property
    def inplace(self) -> dict[str, Node]:
        """The product results that are squashed in place: nobody else reads them."""
        found = {}
        for a, readers in self.formula.trace.uses.items():
            name, taken = self.slot(a), a in self.backward_values or len(readers) != 1
            states = {a, *readers}.intersection(self.states)
            if name and not taken and not states and _has(readers[0], "inplace"):
                found[name] = readers[0]
        return found

    @cached_property
    def extra(self) -> list[Node]:
        """Needed values that lie in no state and in no product's buffer."""
        elsewhere = {*self.inplace.values(), *self.states}
        needed = [a for a in self.formula.trace.nodes if a in self.backward_values and a.op != "input"]
        return [a for a in needed if a not in elsewhere and self.slot(a) is None]

    def buffer_value(self, name: str) -> Node:
        """What the buffer of a product holds in the place of ``name`` after the loop."""
        return self.inplace.get(name, self.sums.result(name))

    def columns(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Where each of them begins when they lie side by side, and its width."""
        return {name: self.span(names, i, 1) for i, name in enumerate(names)}

    def span(self, names: Sequence[str], first: int, count: int) -> tuple[int, int]:
        """Where so many neighbours of names that lie side by side begin, and their width together."""
        widths = [self.widths[name] for name in names]
        return sum(widths[:first]), sum(widths[first : first + count])

    def width(self, a: Node) -> int:
        """1 for what is the same at every unit, else that of its inputs."""
        if a.op == "constant" or _has(a, "reduction"):
            return 1
        if a.op == "input":
            _, name = a.args
            return self.widths.get(name, self.widths[self.formula.gates[0]])
        return max(self.width(o) for o in a.operands)


def _has(a: Node, trait: str) -> bool:
    return a.op in OPS and OPS[a.op].has(trait)
