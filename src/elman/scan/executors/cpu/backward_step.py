"""The backward step of a formula as C++: the derived gradients, from what the forward step kept."""

from __future__ import annotations

from functools import cache

from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.symbols import constant, is_input, symbol
from elman.formula.traversal import is_uniform, topological
from elman.scan.executors.cpu.lane_source import LaneGroup, Place
from elman.scan.executors.cpu.step_printer import StepPrinter
from elman.scan.executors.cpu.value_plan import ValuePlan

NONE = constant(0)


class BackwardStep(StepPrinter):
    """Gradients of the input, of the results of products, of the old state and of per-unit parameters."""

    def __init__(self, plan: ValuePlan) -> None:
        self._stage = cache(self._find_stage)
        self._has_gradient = cache(self._find_gradient)
        super().__init__(plan)

    def write(self) -> None:
        plan, found = self.plan, self.plan.derivative
        for gate in plan.formula.gates:
            self._store(found.x[gate], plan.classes[gate], self.input(gate, "dX"))
        for k, product in enumerate(plan.trace.products):
            if plan.shared_gradients(k) is None:
                for name in product.names:
                    self._store(found.r.get(name, NONE), plan.classes[name], self._result(k, name))
        for name in plan.formula.states:
            self._store(found.s.get(name, NONE), plan.classes[name], self._carry(name, "1 - at.turn"))
        for name in plan.formula.parameters:
            self._add_up(name, found.p.get(name, NONE))

    def _store(self, a: Node, width: int, place: Place) -> None:
        self.body_of(a, width).store(self.pointers.at(place), a)

    def _add_up(self, name: str, a: Node) -> None:
        """The sum over all rows, in doubles from step to step."""
        width = self.plan.classes[self.plan.formula.gates[0]]
        number = [*self.plan.formula.parameters].index(name)
        body, total = self.body_of(a, width), f"total{number}"
        count = len(self.plan.formula.parameters)
        body.hoisted.append(f"lanes {total} = spread(0.f);")
        body.stores.append(f"{total} += {body.value(a)};")
        first = f"((double*){self.buffer('dp')}) + ((long)at.piece * {count} + {number}) * width + j"
        body.ends.append(f"add_doubles({first}, {total}, count);")

    def _carry(self, name: str, turn: str) -> Place:
        """The gradient of a state: what the step after gave, or what this one gives."""
        first, second = (self.buffer(f"d{turn} {name}") for turn in "01")
        return Place(f"({turn} ? {second} : {first})", "row", f"W[{self.plan.classes[name]}]")

    def _result(self, k: int, name: str = "") -> Place:
        """The gradients of a product's results."""
        names, shared = self.plan.trace.products[k].names, self.plan.shared_gradients(k)
        if shared is not None:
            return self.input(self.plan.formula.gates[shared], "dX")
        first = self.columns(names, names.index(name)) if name else "0"
        return Place(self.buffer(f"dR {k}"), "token", self.columns(names, len(names)), first)

    def stage(self, a: Node) -> int:
        if is_input(a, "q"):  # where it is read first
            return min((self._stage(b) for b in self._readers(a)), default=self._stage(a))
        return self._stage(a)

    def _readers(self, q: Node) -> list[Node]:
        targets = [a for a in self.plan.gradients if a is q]
        return [b for b in topological(self.plan.gradients) if q in b.operands] + targets

    def _find_stage(self, a: Node) -> int:
        if is_input(a, "q"):
            names = self.plan.trace.products[int(a.args[1])].names
            return 1 + max(self._stage(self.plan.derivative.r.get(name, NONE)) for name in names)
        if not self._has_gradient(a) or not a.operands:
            return 0
        return max(self._stage(o) for o in a.operands) + OPS[a.op].has("reduction")

    def _find_gradient(self, a: Node) -> bool:
        """Is it of the gradients that come in, and not of the forward pass alone?"""
        return is_input(a, "dq") or any(self._has_gradient(o) for o in a.operands)

    def results(self) -> dict[Node, tuple[int, str]]:
        return {symbol("q", str(k)): (k, str(k)) for k in range(len(self.plan.trace.products))}

    def read(self, a: Node) -> Place | str | None:
        plan = self.plan
        if is_input(a, "d"):
            return self._read_gradient(a.args[1])
        if a in plan.states or a in plan.operands or is_input(a, "s"):
            return self.operand(a)
        if a in plan.slots:
            return self.input(plan.slots[a])
        if a in plan.extra:
            place = self.extra(a)
            return f"spread(*({self.pointers.at(place, '')}))" if is_uniform(a) else place
        if is_input(a, "x"):
            return self.input(a.args[1])
        if is_input(a, "m"):
            return Place(self.buffer(f"m {a.args[1]}"), "token", f"W[{plan.classes[a.args[1]]}]")
        return self.parameter(a.args[1]) if is_input(a, "p") else None

    def _read_gradient(self, name: str) -> str:
        """Of a new state: from the step after, and from the output."""
        carried = f"load_up_to({self.pointers.at(self._carry(name, 'at.turn'))}, count)"
        if name != self.plan.formula.output:
            return carried
        given = Place(self.buffer("dY"), "token", f"W[{self.plan.classes[name]}]")
        return f"{carried} + load_up_to({self.pointers.at(given)}, count)"

    def multiply(self, group: LaneGroup) -> str:
        names = self.plan.trace.products[group.product].names
        return self.print_groups(group, self._result(group.product, names[0]), self.columns(names, len(names)))

    def is_computed(self, a: Node) -> bool:
        return self._has_gradient(a)
