"""The forward program of a plan: all steps, keeping in buffers what the way back needs."""

from __future__ import annotations

from itertools import groupby
from typing import cast

from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.symbols import symbol, value_of
from elman.formula.traversal import is_rowless
from elman.scan.executors.codegen.accumulation import inside
from elman.scan.executors.codegen.pattern_fusion import FusedPatterns
from elman.scan.executors.codegen.plan import Plan
from elman.scan.executors.codegen.torch_source import (
    ProductSource,
    Views,
    call,
    columns,
    evaluate,
    indent,
    input_buffers,
    into,
)


def forward_source(plan: Plan) -> str:
    """Source of ``forward(torch, sizes, X, state, U, p, m) -> (states, products, others)``, all buffers.

    X (N, G·H) holds all tokens step after step; a state buffer has s_0 in its first B rows.
    """
    return "\n".join(_Forward(plan).lines())


class _Forward:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.trace = plan, plan.formula.trace
        self.views, self.products = Views(), ProductSource(plan)
        self.buffers = input_buffers(plan)  # values known for all steps before the loop
        self.names: dict[Node, str] = {}  # values of the current step
        self.head: list[str] = ["N, B = X.shape[0], state[0].shape[0]", "rows = B"]
        self.body: list[str] = []
        self.multiplied: set[int] = set()
        self.homes = [plan.sums.home(product.names) for product in self.trace.products]
        self.folds = FusedPatterns(plan)
        if any("zero" in call for call, _ in self.folds.calls.values()):
            self.head.append("zero = X.new_zeros(())")

    def lines(self) -> list[str]:
        self._states()
        ready = [a for a in self.trace.nodes if a not in self.plan.recurrent]
        self.head += evaluate(ready, self.buffers, "b")  # for all steps at once
        for a in self.trace.nodes:
            self._compute(a)
        self._copies()
        states = range(len(self.plan.formula.states))
        shrink = [f"    s{j} = s{j}[:n]" for j in states]
        body = ["if n != rows:", "    rows = n", *shrink, *self.body]
        body += [f"s{j} = {self.views(f'S{j}[B:]')}" for j in states]
        kept = [self._buffer(k) or "None" for k in range(len(self.trace.products))]
        extra = [f"V{i}" for i in range(len(self.plan.extra))]
        lists = [f"[{', '.join(names)}]" for names in ([f"S{j}" for j in states], kept, extra)]
        return [
            "def forward(torch, sizes, X, state, U, p, m):",
            *indent([*self.head, self.views.loop(backwards=False)]),
            *indent(body, 2),
            *indent([f"return {', '.join(lists)}"]),
        ]

    def _states(self) -> None:
        for j, name in enumerate(self.plan.formula.states):
            width = self.plan.widths[name]
            self.head += [f"S{j} = X.new_empty(B + N, {width})", f"S{j}[:B] = s{j} = state[{j}]"]
            self.names[symbol("s", name)] = f"s{j}"
        for i, a in enumerate(self.plan.extra):
            self.head.append(f"V{i} = X.new_empty(N, {self.plan.width(a)})")
        for k in range(len(self.trace.products)):
            self.head.append(f"u{k} = {self.products.transpose(k)}")

    def _name(self, a: Node) -> str:
        """A value as the loop reads it."""
        if a not in self.names and a in self.buffers:
            constant = value_of(a) is not None or is_rowless(a)
            self.names[a] = self.buffers[a] if constant else self.views(self.buffers[a])
        return self.names[a]

    def _compute(self, a: Node) -> None:
        if a.op == "input" and a.args[0] == "r":
            self._multiply(a.args[1])
        made = a in self.names or a.op == "input" or self.plan.slot(a) is not None
        if made or a in self.folds.inside or a in self.plan.sums.partial or a not in self.plan.recurrent:
            return
        if a in self.folds.calls:
            template, parts = self.folds.calls[a]
            expression = template.format(*(self._name(part) for part in parts))
        else:
            expression = call(a, self._name)
        if a in self.plan.states:
            j = self.plan.formula.states.index(self.plan.states[a])
            self.names[a] = self.views(f"S{j}[B:]")
        elif a in self.plan.extra:
            self.names[a] = self.views(f"V{self.plan.extra.index(a)}")
        else:
            self.names[a] = f"v{len(self.body)}"
            self.body.append(f"{self.names[a]} = {expression}")
            return
        column = self.plan.slot(a.args[0]) if OPS[a.op].has("copied") else None
        if any(column in p.names and len(p.names) > 1 for p in self.trace.products):
            # A part of a wider product: MKL's tanh and exp want it copied out first.
            self.body.append(f"torch.{a.op}_({self.names[a]}.copy_({self.names[a.args[0]]}))")
        else:
            self.body.append(into(self.names[a], expression))

    def _copies(self) -> None:
        """A new state that is another's node, or an input, still gets its own buffer."""
        for j, (name, a) in enumerate(self.trace.new.items()):
            elsewhere = a.op == "input" or self.plan.slot(a) is not None
            if a not in self.plan.recurrent or self.plan.states[a] != name or elsewhere:
                self.body.append(f"{self.views(f'S{j}[B:]')}.copy_({self._name(a)})")

    def _base(self, k: int) -> str | None:
        """The buffer that a product is added to, where they only meet as a sum: x, or an earlier product's."""
        # It is overwritten, so that nothing need be copied.
        names, bases = self.trace.products[k].names, self.plan.sums.bases
        added = [bases.get(name) for name in names]
        if all(base is None for base in added):
            return None
        gates = self.plan.formula.gates
        first = inside(added, [symbol("x", gate) for gate in gates])
        if first is not None:
            return columns("X", *self.plan.span(gates, first, len(names)))
        if (home := self.homes[k]) is not None:
            j, first = home
            span = self.plan.span(self.trace.products[j].names, first, len(names))
            return columns(cast(str, self._buffer(j)), *span)
        return f"X{k}"

    def _join(self, k: int) -> None:
        """x beside zeros for the results that it is not added to."""
        places, parts = self.plan.columns(self.plan.formula.gates), []
        for name in self.trace.products[k].names:
            base = self.plan.sums.bases.get(name)
            zeros = f"X.new_zeros(N, {self.plan.widths[name]})"
            parts.append(zeros if base is None else columns("X", *places[base.args[1]]))
        self.head.append(f"X{k} = torch.cat(({', '.join(parts)}), 1)")

    def _buffer(self, k: int) -> str | None:
        """Where the results of product k lie: in what they are added to, or where others need them."""
        names = self.trace.products[k].names
        needed = any(self.plan.buffer_value(n) in self.plan.backward_values for n in names)
        needed = needed or any(home and home[0] == k for home in self.homes)
        return self._base(k) or (f"A{k}" if needed else None)

    def _multiply(self, name: str) -> None:
        k = next(k for k, p in enumerate(self.trace.products) if name in p.names)
        if k in self.multiplied:
            return
        self.multiplied.add(k)
        product, base, buffer = self.trace.products[k], self._base(k), self._buffer(k)
        if (home := self.homes[k]) is not None:
            self._multiply(self.trace.products[home[0]].names[0])
        operand = self._name(product.operand)
        if base:
            if base == f"X{k}":
                self._join(k)
            self.body.append(self.products.add(k, self.views(base), operand))
        elif buffer:
            width = sum(self.plan.widths[n] for n in product.names)
            self.head.append(f"{buffer} = X.new_empty(N, {width})")
            self.body.append(into(self.views(buffer), self.products.multiply(k, operand)))
        else:
            self.body.append(f"a{k} = {self.products.multiply(k, operand)}")
        self._squash(k)
        for n, place in self.plan.columns(product.names).items():
            self.names[self.plan.buffer_value(n)] = self._cut(k, *place)

    def _squash(self, k: int) -> None:
        """σ, tanh, … of neighbouring results in one call, in place."""
        ops, first = {name: a.op for name, a in self.plan.inplace.items()}, 0
        for op, names in groupby(self.trace.products[k].names, ops.get):
            width = sum(self.plan.widths[n] for n in names)
            if op:
                self.body.append(f"torch.{op}_({self._cut(k, first, width)})")
            first += width

    def _cut(self, k: int, first: int, width: int) -> str:
        whole = sum(self.plan.widths[n] for n in self.trace.products[k].names)
        buffer = self._buffer(k)
        if buffer:
            return self.views(buffer if width == whole else columns(buffer, first, width))
        return f"a{k}" if width == whole else columns(f"a{k}", first, width)
