"""The forward step of a formula as C++."""

from __future__ import annotations

from elman.formula import Node
from elman.formula.symbols import is_input, symbol
from elman.formula.traversal import is_uniform
from elman.scan.executors.cpu.lane_source import LaneGroup, Place
from elman.scan.executors.cpu.step_printer import StepPrinter


class ForwardStep(StepPrinter):
    """New states and the operands of products; what the way back needs, too, where it is wanted (KEEP)."""

    def write(self) -> None:
        for name, a in self.plan.trace.new.items():
            body = self.body_of(a, self.plan.classes[name])
            body.store(self.pointers.at(self.state(name, "fresh")), a)
        for a in self.plan.operands:
            self.body_of(a).store(self.pointers.at(self.operand(a)), a)
        for a in self.plan.stored:
            if is_uniform(a):
                self._store_number(a)
            else:
                place = self.input(self.plan.slots[a]) if a in self.plan.slots else self.extra(a)
                self.body_of(a).store(self.pointers.at(place), a, "if (KEEP) ")

    def _store_number(self, a: Node) -> None:
        """One number a row: a mean, once the loop of its operand has added it up."""
        number = self._reduce(a)
        at = self.pointers.at(self.extra(a), "")
        after = self.body_of(a.args[0]).after
        after.append(f"if (KEEP) for (int row = 0; row < at.n; row++) *({at}) = mean{number}[row];")

    def stage(self, a: Node) -> int:
        return 0 if a.op == "constant" else self.plan.home_stage(a)

    def results(self) -> dict[Node, tuple[int, str]]:
        products = enumerate(self.plan.trace.products)
        every = {symbol("r", name): (k, name) for k, product in products for name in product.names}
        return {a: result for a, result in every.items() if a in self.plan.trace.uses}

    def read(self, a: Node) -> Place | str | None:
        if a.op != "input" or a.args[0] == "r":
            return None
        kind, name = a.args
        if kind == "x":
            return self.input(name)
        if kind == "m":
            return Place(self.buffer(f"m {name}"), "token", f"W[{self.plan.classes[name]}]")
        return self.parameter(name) if kind == "p" else self.state(name, "old")

    def multiply(self, group: LaneGroup) -> str:
        operand = self.plan.trace.products[group.product].operand
        depth = f"W[{self.plan.width(operand)}]"
        return self.print_groups(group, self.operand(operand), depth)

    def is_computed(self, a: Node) -> bool:
        return not is_input(a, "xspm")
