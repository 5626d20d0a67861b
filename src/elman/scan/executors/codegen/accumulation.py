"""Results of products that are only added up can lie in one buffer: each product adds to what is there.

W x + U h is the sum of a part of the input and a result; where W x is itself a product of the step, of two
results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from elman.formula import Node
from elman.formula.formula import Trace
from elman.formula.symbols import is_input, symbol
from elman.formula.traversal import topological

Terms = Mapping[Node, Sequence[Node]]  # of each sum


@dataclass(frozen=True)
class Accumulation:
    """How the results of each product are laid down, in the order of the products."""

    trace: Trace
    terms: Terms

    @cached_property
    def bases(self) -> dict[str, Node]:
        """What a result is added to, by its name: a part of x, or what an earlier result has become."""
        return {name: base for name, (base, _) in self._steps.items() if base is not None}

    def result(self, name: str) -> Node:
        """What a result has become then; the last of a sum, the sum itself."""
        return self._steps[name][1] if name in self._steps else symbol("r", name)

    @cached_property
    def partial(self) -> frozenset[Node]:
        """Sums within the sums, which nobody computes on their own."""
        return frozenset(a for total in self.terms for a in topological(total.args) if a.operands)

    @cached_property
    def _steps(self) -> dict[str, tuple[Node | None, Node]]:
        steps: dict[str, tuple[Node | None, Node]] = {}
        order = [name for product in self.trace.products for name in product.names]
        for total, terms in self.terms.items():
            base = next((a for a in terms if is_input(a, "x")), None)
            results = sorted((a for a in terms if a is not base), key=lambda r: order.index(r.args[1]))
            for r in results:
                new = total if r is results[-1] else r if base is None else base + r
                steps[r.args[1]] = base, new
                base = new
        return steps

    def home(self, names: Sequence[str]) -> tuple[int, int] | None:
        """The product to whose results these are added, and the place of the first among its names."""
        for k, product in enumerate(self.trace.products):
            results = [self.result(name) for name in product.names]
            place = inside([self.bases.get(name) for name in names], results)
            if place is not None:
                return k, place
        return None

    def find_broken(self) -> list[Node]:
        """The sums whose results lie apart: no product can be added to them at once."""
        found = []
        for product in self.trace.products:
            late = [n for n in product.names if n in self.bases and not is_input(self.bases[n], "x")]
            if late and (len(late) < len(product.names) or self.home(product.names) is None):
                results = {symbol("r", name) for name in late}
                found += [a for a, terms in self.terms.items() if results.intersection(terms)]
        return found


def find_sums(trace: Trace) -> Accumulation:
    """All sums of results and at most one part of the input, whose terms go nowhere else."""
    every = _find_candidates(trace)
    inner = {o for a in every for o in a.args}
    laid = Accumulation(trace, {a: terms for a, terms in every.items() if a not in inner})
    while broken := laid.find_broken():
        parts = [o for a in broken for o in a.args if o in every]
        kept = {a: t for a, t in laid.terms.items() if a not in broken}
        laid = Accumulation(trace, kept | {a: every[a] for a in parts})
    return laid


def _find_candidates(trace: Trace) -> dict[Node, Sequence[Node]]:
    numbers = {symbol("r", n): k for k, p in enumerate(trace.products) for n in p.names}
    elsewhere = [*(p.operand for p in trace.products), *trace.new.values()]
    terms: dict[Node, list[Node]] = {}
    for a in trace.nodes:
        if is_input(a, "xr"):
            terms[a] = [a]
        elif a.op == "add" and all(o in terms and trace.uses[o] == [a] and o not in elsewhere for o in a.args):
            parts = [term for o in a.args for term in terms[o]]
            products = [numbers.get(term, -1) for term in parts]  # -1 stands for x
            if len(set(products)) == len(products):
                terms[a] = parts
    return {a: parts for a, parts in terms.items() if a.op == "add"}


def inside(part: Sequence[object], whole: Sequence[object]) -> int | None:
    """Where the part stands in the whole, side by side and in order."""
    for i in range(len(whole) - len(part) + 1):
        if all(a is b for a, b in zip(part, whole[i:], strict=False)):
            return i
    return None
