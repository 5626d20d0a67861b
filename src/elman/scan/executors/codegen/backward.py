"""The backward program of a plan: coefficients for all steps, the loop of gradients, matrix gradients."""

from __future__ import annotations

from collections import Counter

from elman.formula import Node
from elman.formula.derivative import Form
from elman.formula.operation import OPS
from elman.formula.symbols import is_input, symbol, value_of
from elman.formula.traversal import is_rowless, topological
from elman.scan.executors.codegen.gradient_layout import GradientLayout
from elman.scan.executors.codegen.plan import Plan
from elman.scan.executors.codegen.torch_source import (
    ONE,
    ProductSource,
    Views,
    columns,
    evaluate,
    indent,
    input_buffers,
    into,
    total,
)


def backward_source(plan: Plan) -> str:
    """Source of ``backward(torch, sizes, dY, dS, before, X, S, A, V, U, p, m) -> (dX, dS_0, dU, dp)``.

    ``dS`` are the gradients of the final states (B rows each), ``before(buffer)`` gives each token's
    previous state from a state buffer.
    """
    return "\n".join(_Backward(plan).lines())


class _Backward:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.trace, self.linear = plan, plan.formula.trace, plan.linear
        self.layout, self.views, self.products = GradientLayout(plan), Views(), ProductSource(plan)
        self.buffers = input_buffers(plan)  # values and coefficients, for all steps
        self.gradients: dict[Node, str] = {}  # gradients of the current step
        self.stored: dict[Node, str] = {}  # gradients kept for all steps
        self.head = ["N, B = X.shape[0], dS[0].shape[0]"]
        self.body: list[str] = []

    def lines(self) -> list[str]:
        self._values()
        self._coefficients()
        self._store()
        states = range(len(self.plan.formula.states))
        for k in range(len(self.trace.products)):
            self._result_gradients(k)
        for j, name in enumerate(self.plan.formula.states):
            self._state_gradient(j, self.linear.s.get(name, {}))
        for g in self.stored:
            self._gradient(g)  # those that nobody in the loop asked for
        grow = [f"    g{j} = torch.cat((g{j}, dS[{j}][rows:n]))" for j in states]
        body = ["if n != rows:", *grow, "    rows = n", *self._enter(), *self.body]
        body.append(f"{', '.join(f'g{j}' for j in states)} = {', '.join(f'h{j}' for j in states)}")
        start = ["rows = sizes[-1]", *(f"g{j} = dS[{j}][:rows]" for j in states)]
        end = ["if rows < B:", *(f"    g{j} = torch.cat((g{j}, dS[{j}][rows:]))" for j in states)]
        return [
            "def backward(torch, sizes, dY, dS, before, X, S, A, V, U, p, m):",
            *indent([*self.head, *start, self.views.loop(backwards=True)]),
            *indent(body, 2),
            *indent([*end, *self._after()]),
        ]

    def _values(self) -> None:
        """Names of everything the forward pass left."""
        plan = self.plan
        for k, product in enumerate(self.trace.products):
            for name, place in plan.columns(product.names).items():
                self.buffers[plan.buffer_value(name)] = columns(f"A[{k}]", *place)
        for i, a in enumerate(plan.extra):
            self.buffers[a] = f"V[{i}]"
        for j, (name, a) in enumerate(self.trace.new.items()):
            self.buffers[a] = f"S[{j}][B:]"
            if symbol("s", name) in topological(plan.coefficients):
                self.head.append(f"P{j} = before(S[{j}])")
                self.buffers[symbol("s", name)] = f"P{j}"

    def _coefficients(self) -> None:
        """Each for all steps; those of neighbouring results with one gradient lie side by side."""
        targets: dict[Node, str] = {}
        copies: list[tuple[str, Node]] = []
        for k in sorted({home for home, _ in self.layout.homes}):
            width = sum(self.plan.widths[name] for name in self.trace.products[k].names)
            self.head.append(f"R{k} = X.new_empty(N, {width})")
            for i, names in enumerate(self.layout.runs(k)):
                if len(names) > 1:
                    width = self.plan.widths[names[0]]
                    self.head.append(f"K{k}_{i} = X.new_empty(N, {len(names)}, {width})")
                    for place, name in enumerate(names):
                        (factor,) = self.linear.r[name].values()
                        copies.append((f"K{k}_{i}[:, {place}]", factor))
                        if not is_rowless(factor) and self.plan.width(factor) == width:
                            targets.setdefault(factor, copies[-1][0])
        self.head += evaluate(self.plan.coefficients, self.buffers, "c", targets)
        for target, factor in copies:
            if self.buffers[factor] != target:
                self.head.append(f"{target} = {self.buffers[factor]}")

    def _store(self) -> None:
        """Slabs for the gradients that are read after the loop."""
        gates = (gate for gate in self.plan.formula.gates if gate not in self.plan.additive)
        forms = [*(self.linear.x[gate] for gate in gates), *self.linear.p.values()]
        for i, g in enumerate(dict.fromkeys(g for form in forms for g in form)):
            self.stored[g] = f"G{i}"
            self.head.append(f"G{i} = X.new_empty(N, {self._width(g)})")

    def _width(self, g: Node) -> int:
        if g.op == "input":
            kind, name = g.args
            if kind == "d":
                return self.plan.widths[name]
            return self.plan.width(self.trace.products[int(name)].operand)
        form = self.linear.sums[g]
        return 1 if OPS[g.op].has("reduction") else max(self._width(part) for part in form)

    def _enter(self) -> list[str]:
        """The gradients of the new states: from the step after, and from the output."""
        lines = []
        for j, name in enumerate(self.plan.formula.states):
            buffer = self.stored.get(symbol("d", name))
            if name == self.plan.formula.output:
                out = f", out={self.views(buffer)}" if buffer else ""
                lines.append(f"d{j} = torch.add(g{j}, {self.views('dY')}{out})")
            else:
                lines.append(f"d{j} = {f'{self.views(buffer)}.copy_(g{j})' if buffer else f'g{j}'}")
        return lines

    def _gradient(self, g: Node) -> str:
        """A gradient as the loop reads it; computes it if it must."""
        if g not in self.gradients:
            buffer = self.stored.get(g)
            if is_input(g, "d"):
                self.gradients[g] = f"d{self.plan.formula.states.index(g.args[1])}"
            elif g.op == "input":
                k = int(g.args[1])
                self._result_gradients(k)
                self.gradients[g] = name = f"q{k}"
                target = self.views(buffer) if buffer else ""
                product = self.products.operand_gradient(k, self.views(self.layout.buffer(k)))
                self.body.append(f"{name} = {into(target, product) if target else product}")
            else:
                name = f"e{list(self.linear.sums).index(g)}"
                self.body += total(self.linear.sums[g], self._gradient, self._factor, name)
                if OPS[g.op].has("reduction"):
                    self.body.append(f"{name} = {OPS[g.op].torch.format(name)}")
                if buffer:
                    self.body.append(f"{self.views(buffer)}.copy_({name})")
                self.gradients[g] = name
        return self.gradients[g]

    def _factor(self, k: Node) -> str:
        if value_of(k) is not None or is_rowless(k):
            return self.buffers.get(k) or repr(value_of(k))
        return self.views(self.buffers[k])

    def _result_gradients(self, k: int) -> None:
        """The gradients of a product's results, side by side in the buffer R."""
        home, place = self.layout.homes[k]
        places = self.plan.columns(self.trace.products[home].names)
        wanted = set(self.trace.products[home].names[place : place + len(self.trace.products[k].names)])
        for i, names in enumerate(self.layout.runs(home)):
            marker = symbol("q", f"done {home} {i}")
            if marker in self.gradients or not wanted.intersection(names):
                continue
            self.gradients[marker] = ""
            first, width = places[names[0]]
            target, form = columns(f"R{home}", first, len(names) * width), self.linear.r[names[0]]
            if len(names) > 1:
                cut = self.views(f"{target}.unflatten(1, ({len(names)}, {width}))")
                factors = self.views(f"K{home}_{i}")
                by = f"{self._gradient(next(iter(form)))}.unsqueeze(1)"
                self.body.append(f"torch.mul({by}, {factors}, out={cut})")
            else:
                self._single_result(form, self.views(target))

    def _single_result(self, form: Form, cut: str) -> None:
        if len(form) == 1:
            ((g, k),) = form.items()
            value = self._gradient(g)
            product = f"torch.mul({value}, {self._factor(k)}, out={cut})"
            self.body.append(f"{cut}.copy_({value})" if k is ONE else product)
        elif form:
            self.body += total(form, self._gradient, self._factor, "r")
            self.body.append(f"{cut}.copy_(r)")
        else:
            self.body.append(f"{cut}.zero_()")

    def _state_gradient(self, j: int, form: Form) -> None:
        """dL/ds; the last product is added on the way (addmm) where nobody else needs it."""
        parts = (self.linear.sums, self.linear.r, self.linear.s)
        readers = Counter(g for part in parts for each in part.values() for g in each)
        alone = (g for g, k in form.items() if is_input(g, "q") and k is ONE and readers[g] == 1)
        fused = [g for g in alone if g not in self.stored]
        rest = {g: k for g, k in form.items() if g not in fused}
        lines = total(rest, self._gradient, self._factor, f"h{j}")
        for g in fused:
            k = int(g.args[1])
            results = self.views(self.layout.buffer(k))
            lines.append(f"h{j} = {self.products.operand_gradient(k, results, f'h{j}' if lines else None)}")
        self.body += lines or [f"h{j} = torch.zeros_like(d{j})"]

    def _after(self) -> list[str]:
        """Everything that could wait, for all steps at once: matrix gradients, then dX in their place."""
        buffer = self.stored.__getitem__
        factor = lambda k: self.buffers.get(k) or repr(value_of(k))  # noqa: E731
        matrices = [
            self.products.matrix_gradient(k, self.layout.buffer(k), self.buffers[p.operand])
            for k, p in enumerate(self.trace.products)
        ]
        lines = [f"dU = [{', '.join(matrices)}]", "dp = []"]
        for name in self.plan.formula.parameters:
            zeros = [f"unit = X.new_zeros(1, {self.plan.width(symbol('p', name))})"]
            lines += total(self.linear.p[name], buffer, factor, "unit") or zeros
            lines.append("dp.append(unit.sum(0))")
        names = self.trace.products[0].names if self.trace.products else ()
        whole = names == self.plan.formula.gates == tuple(map(self.layout.result_of_gate, names))
        blocks = []
        for gate in self.plan.formula.gates:
            blocks.append(self.layout.block(gate) if whole or gate in self.plan.additive else f"x_{gate}")
            if gate not in self.plan.additive:
                zeros = [f"x_{gate} = X.new_zeros(N, {self.plan.widths[gate]})"]
                lines += total(self.linear.x[gate], buffer, factor, f"x_{gate}") or zeros
                lines += [f"{blocks[-1]} = x_{gate}"] if whole else []
        joined = f"torch.cat(({', '.join(blocks)},), 1)"
        lines.append(f"dX = {'R0' if whole else joined}")
        states = ", ".join(f"g{j}" for j in range(len(self.plan.formula.states)))
        return [*lines, f"return dX, [{states}], dU, dp"]
