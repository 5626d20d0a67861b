"""Which values of a formula the C++ loops keep for the way back, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from elman.formula import Derivative, Formula, Node, derivative
from elman.formula.formula import Product, Trace
from elman.formula.operation import OPS
from elman.formula.step_plan import StepPlan
from elman.formula.symbols import is_input, symbol
from elman.formula.traversal import is_rowless, is_uniform, order_values


def classify_widths(formula: Formula, widths: Mapping[str, int]) -> tuple[dict[str, int], tuple[int, ...]]:
    """The class of each name, equal where the width is, and the width of each class."""
    sizes = [*dict.fromkeys(widths[name] for name in formula.results)]
    return {name: sizes.index(widths[name]) for name in formula.results}, tuple(sizes)


def split_products(products: tuple[Product, ...]) -> tuple[Product, ...]:
    """The same products, each in two where later operands read some of its results and not the others."""
    awaited = {a.args[1] for a in order_values([p.operand for p in products]) if is_input(a, "r")}
    found: list[Product] = []
    for product in products:
        parts = [tuple(n for n in product.names if (n in awaited) is wanted) for wanted in (True, False)]
        in_order = product.names[: len(parts[0])] == parts[0] and all(parts)
        found += [Product(product.operand, names) for names in parts] if in_order else [product]
    return tuple(found)


@dataclass(frozen=True)
class ValuePlan:
    """What is kept of a formula whose gates, states and matrices have these classes of width.

    Nothing depends on the widths themselves, or on what was traced before: equal formulas have one program.
    """

    formula: Formula
    classes: Mapping[str, int]
    split: bool = False  # are the results of a product that other products wait for a product of their own?

    @cached_property
    def trace(self) -> Trace:
        """The trace, its values in an order that is the same in every process."""
        products = self.formula.trace.products
        trace = Trace(split_products(products) if self.split else products, self.formula.trace.new)
        outputs = [*(p.operand for p in trace.products), *trace.new.values()]
        trace.__dict__["nodes"] = tuple(order_values(outputs))
        return trace

    @cached_property
    def steps(self) -> StepPlan:
        return StepPlan(self.formula, self.classes)

    @cached_property
    def derivative(self) -> Derivative:
        return derivative(self.trace)

    @cached_property
    def gradients(self) -> list[Node]:
        """All that the backward pass computes."""
        return [a for part in vars(self.derivative).values() for a in part.values()]

    @cached_property
    def states(self) -> dict[Node, str]:
        """The values that are new states, and no input as they are."""
        return {a: name for name, a in reversed([*self.trace.new.items()]) if a.operands}

    @cached_property
    def operands(self) -> list[Node]:
        """What products multiply that is neither a state nor a part of the input."""
        found = dict.fromkeys(p.operand for p in self.trace.products)
        return [a for a in found if (a.operands or is_input(a, "r")) and a not in self.states]

    @cached_property
    def _needs(self) -> tuple[set[Node], set[Node]]:
        """What must be stored for the backward pass, and the parts of the input that it reads."""
        stored: set[Node] = set()
        inputs: set[Node] = set()
        seen: set[Node] = set()
        waiting = [*self.gradients, *(p.operand for p in self.trace.products if is_input(p.operand, "x"))]
        while waiting:
            a = waiting.pop()
            if a in seen or a in self.states or a in self.operands:
                continue
            seen.add(a)
            if is_input(a, "x"):
                inputs.add(a)
            elif a in self.trace.uses and self._must_store(a):
                stored.add(a)
            else:
                waiting += a.operands
        return stored, inputs

    def _must_store(self, a: Node) -> bool:
        """Is it dear to compute again? A function of a state is not: its memory would cost as much."""
        if is_rowless(a):
            return False
        if is_uniform(a):
            return OPS[a.op].has("reduction")
        if is_input(a, "r") or any(is_input(o, "r") for o in a.operands):
            return True
        if not a.operands or not OPS[a.op].has("kept"):
            return False
        return not all(o in self.states or o.op == "constant" or is_input(o, "s") for o in a.operands)

    @cached_property
    def stored(self) -> list[Node]:
        return [a for a in self.trace.nodes if a in self._needs[0]]

    @cached_property
    def slots(self) -> dict[Node, str]:
        """Stored values that take the place of a gate's part of the input, which nobody reads again."""
        found: dict[Node, str] = {}
        for a in self.stored:
            for gate in self.formula.gates:
                x = symbol("x", gate)
                free = x not in self._needs[1] and gate not in found.values()
                if free and not is_uniform(a) and self.width(a) == self.classes[gate] and self._last_read(x, a):
                    found[a] = gate
                    break
        return found

    def _last_read(self, x: Node, a: Node) -> bool:
        """Does nobody read x after the loop in which ``a`` is computed?"""
        return all(self.steps.stage[reader] <= self.home_stage(a) for reader in self.trace.uses[x])

    def home_stage(self, a: Node) -> int:
        """The stage that computes a value; a product's result where it is read first."""
        readers = self.trace.uses.get(a, ()) if is_input(a, "r") and a not in self.operands else ()
        return min((self.steps.stage[b] for b in readers), default=self.steps.stage[a])

    @cached_property
    def extra(self) -> list[Node]:
        """Stored values that lie beside the input."""
        return [a for a in self.stored if a not in self.slots]

    def width(self, a: Node) -> int | None:
        """The class of a value's width; None where it is the same at every unit."""
        if a in self.steps.width:
            return self.steps.width[a]
        if a.op == "input":
            kind, name = a.args
            return self.classes[name] if kind == "d" else self.width(self.trace.products[int(name)].operand)
        if is_uniform(a):
            return None
        return next(w for o in a.operands if (w := self.width(o)) is not None)

    def shared_gradients(self, k: int) -> int | None:
        """The first of the gates whose gradients are those of product k's results, side by side."""
        names, gates = self.trace.products[k].names, self.formula.gates
        wanted = [(self.derivative.r[n], self.classes[n]) for n in names]
        there = [(self.derivative.x[g], self.classes[g]) for g in gates]
        starts = range(len(gates) - len(names) + 1)
        return next((i for i in starts if there[i : i + len(names)] == wanted), None)
