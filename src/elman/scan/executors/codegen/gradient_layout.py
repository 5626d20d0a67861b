"""Where the gradients of what products yield lie, for all steps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from elman.formula import Node
from elman.formula.symbols import symbol
from elman.scan.executors.codegen.accumulation import inside
from elman.scan.executors.codegen.plan import Plan
from elman.scan.executors.codegen.torch_source import columns


class GradientLayout:
    """A buffer R for each product, unless another has the same gradients: results that are summed share one."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.products, self.linear = plan, plan.formula.trace.products, plan.linear

    @cached_property
    def homes(self) -> list[tuple[int, int]]:
        """The first product that has the gradients of each product's results, and the place among its names."""
        known = [(form, self.plan.widths[name]) for name, form in self.linear.r.items()]
        first = {name: known[known.index(same)] for name, same in zip(self.linear.r, known, strict=True)}
        forms = [[first[name] for name in product.names] for product in self.products]
        return [
            next((j, i) for j, there in enumerate(forms) if (i := inside(here, there)) is not None)
            for here in forms
        ]

    def runs(self, k: int) -> Iterator[tuple[Node | None, list[str]]]:
        """Neighbouring results of a product whose gradients are multiples of the same gradient."""
        run: list[str] = []
        shared: Node | None = None
        for name in self.products[k].names:
            form = self.linear.r[name]
            gradient = next(iter(form)) if len(form) == 1 else None
            if run and (gradient is not shared or gradient is None):
                yield shared, run
                run = []
            run, shared = [*run, name], gradient
        yield shared, run

    def buffer(self, k: int) -> str:
        """Where the gradients of a product's results lie for all steps."""
        (home, _), names = self.homes[k], self.names(k)
        whole = self.products[home].names
        if names == whole:
            return f"R{home}"
        first, _ = self.plan.columns(whole)[names[0]]
        return columns(f"R{home}", first, sum(self.plan.widths[name] for name in names))

    def names(self, k: int) -> tuple[str, ...]:
        """The results that have the gradients of product k, in the product that has them first."""
        home, place = self.homes[k]
        return self.products[home].names[place : place + len(self.products[k].names)]

    def block(self, gate: str) -> str:
        """Where the gradient of a gate's part of the input lies."""
        name = self.result_of_gate(gate)
        names = next(p.names for p in self.products if name in p.names)
        buffer = self.buffer([p.names for p in self.products].index(names))
        return columns(buffer, *self.plan.columns(names)[name])

    def result_of_gate(self, gate: str) -> str:
        """The product result that a gate's part of the input is added to; its own where it is to none."""
        bases = self.plan.sums.bases.items()
        return next((name for name, base in bases if base is symbol("x", gate)), gate)
