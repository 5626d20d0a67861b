"""Values that torch computes in one call together with the products they read."""

from __future__ import annotations

from elman.formula import Node
from elman.formula.symbols import value_of
from elman.scan.executors.codegen.plan import Plan


class FusedPatterns:
    """a + b·c and 2·b·c are an addcmul; a product that they alone read is folded in."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.trace = plan, plan.formula.trace
        self.calls: dict[Node, tuple[str, tuple[Node, ...]]] = {}  # templates, and what they read
        self.inside: set[Node] = set()  # what is never computed by itself
        for a in self.trace.nodes:
            if a in plan.recurrent and a.op == "mul":
                self._number(a)
            elif a in plan.recurrent and a.op == "add":
                self._sum(a)

    def _sum(self, a: Node) -> None:
        """a + b·c"""
        product = next((o for o in reversed(a.args) if self._foldable(o)), None)
        other = a.args[1] if a.args[0] is product else a.args[0]
        if product is not None and value_of(other) is None:
            self.calls[a] = "torch.addcmul({0}, {1}, {2})", (other, *product.args)
            self.inside.add(product)

    def _number(self, a: Node) -> None:
        """2·b·c, where a number and two values meet."""
        for inner, other in (a.args, a.args[::-1]):
            if inner.op == "mul" and self._alone(inner) and value_of(other) is None:
                number, value = sorted(inner.args, key=lambda o: value_of(o) is None)
                if value_of(number) is not None:
                    call = f"torch.addcmul(zero, {{0}}, {{1}}, value={value_of(number)})"
                    self.calls[a] = call, (value, other)
                    self.inside.add(inner)
                    return

    def _foldable(self, a: Node) -> bool:
        if a.op != "mul" or a in self.calls:
            return False
        return self._alone(a) and all(value_of(o) is None for o in a.args)

    def _alone(self, a: Node) -> bool:
        """Does nobody but one other value of the loop read it?"""
        return (
            a in self.plan.recurrent
            and len(self.trace.uses[a]) == 1
            and a not in self.plan.states
            and a not in self.plan.backward_values
            and all(p.operand is not a for p in self.trace.products)
        )
