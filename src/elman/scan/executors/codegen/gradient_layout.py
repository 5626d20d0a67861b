"""Where the gradients of what products yield lie, for all steps."""

from __future__ import annotations

from functools import cached_property
from itertools import groupby

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

    def runs(self, k: int) -> list[list[str]]:
        """Neighbouring results of a product whose gradients are multiples of the same gradient."""

        def find_gradient(name: str) -> object:
            gradients = tuple(self.linear.r[name])
            return gradients if len(gradients) == 1 else name  # with a sum of several a result stands alone

        return [list(names) for _, names in groupby(self.products[k].names, find_gradient)]

    def buffer(self, k: int) -> str:
        """Where the gradients of a product's results lie for all steps."""
        (home, place), count = self.homes[k], len(self.products[k].names)
        whole = self.products[home].names
        return f"R{home}" if count == len(whole) else columns(f"R{home}", *self.plan.span(whole, place, count))

    def block(self, gate: str) -> str:
        """Where the gradient of a gate's part of the input lies."""
        name = self.result_of_gate(gate)
        k, names = next((k, p.names) for k, p in enumerate(self.products) if name in p.names)
        return columns(self.buffer(k), *self.plan.columns(names)[name])

    def result_of_gate(self, gate: str) -> str:
        """The product result that a gate's part of the input is added to; its own where it is to none."""
        bases = self.plan.sums.bases.items()
        return next((name for name, base in bases if base is symbol("x", gate)), gate)
