"""What the programs of a formula need to know of its widths: computed once, asked at every call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from elman.formula import Formula, Node
from elman.scan.executors.cpu.lane_source import LaneGroup
from elman.scan.executors.cpu.recurrence_source import NativeSource, print_source
from elman.scan.executors.cpu.value_plan import classify_widths


@dataclass(frozen=True)
class Panel:
    """A matrix laid out for the products of a group: its rows from each start, or its columns."""

    group: LaneGroup
    width: int
    depth: int
    starts: tuple[int, ...]  # numbers before the first of each result
    steps: tuple[int, int]  # numbers from one result to the next, and along the depth
    count: int  # of numbers when it is laid out

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return self.width, len(self.starts), self.group.blocks, self.depth


class ProgramLayout:
    """The sizes of all buffers of a source whose classes of width are so wide."""

    def __init__(self, source: NativeSource, widths: Sequence[int]) -> None:
        self.source, self.plan, self.widths = source, source.plan, widths

    @cached_property
    def extra(self) -> int:
        """Numbers that are kept of a token beside its input."""
        return sum(1 if (w := self.plan.width(a)) is None else self.widths[w] for a in self.plan.extra)

    @cached_property
    def operands(self) -> list[int]:
        """The width of each operand that has a buffer."""
        return [self.width(a) for a in self.plan.operands]

    @cached_property
    def results(self) -> list[tuple[int, int | None]]:
        """How wide the results of each product are, and the column of dX where their gradients stand, too."""
        gates, products = self.plan.formula.gates, self.plan.trace.products
        shared = [self.plan.shared_gradients(k) for k in range(len(products))]
        first = [None if at is None else self.sum_widths(gates[:at]) for at in shared]
        return [(self.sum_widths(q.names), at) for q, at in zip(products, first, strict=True)]

    @cached_property
    def work(self) -> int:
        """Multiplications of a step of one row, or as much."""
        products = self.plan.trace.products
        multiplied = sum(self.sum_widths(q.names) * self.width(q.operand) for q in products)
        return multiplied + 20 * self.sum_widths(self.plan.formula.gates)

    @cached_property
    def forward(self) -> list[Panel]:
        panels = []
        for group in self.source.forward.groups:
            product = self.plan.trace.products[group.product]
            depth, names = self.width(product.operand), product.names
            starts = tuple(depth * self.sum_widths(names[: names.index(name)]) for name in group.names)
            panels.append(self._panel(group, self.sum_widths(group.names[:1]), depth, starts, (depth, 1)))
        return panels

    @cached_property
    def backward(self) -> list[Panel]:
        panels = []
        for group in self.source.backward.groups:
            width = self.width(self.plan.trace.products[group.product].operand)
            depth, _ = self.results[group.product]
            panels.append(self._panel(group, width, depth, (0,), (1, width)))
        return panels

    def width(self, a: Node) -> int:
        return self.widths[self.plan.width(a) or 0]

    def sum_widths(self, names: Sequence[str]) -> int:
        return sum(self.widths[self.plan.classes[name]] for name in names)

    def _panel(
        self, group: LaneGroup, width: int, depth: int, starts: tuple[int, ...], steps: tuple[int, int]
    ) -> Panel:
        count = self.source.library.elman_count_packed(width, len(starts), depth)
        return Panel(group, width, depth, starts, steps, count)


@cache
def find_layout(formula: Formula, widths: tuple[tuple[str, int], ...]) -> ProgramLayout:
    """That of a formula whose names are so wide."""
    classes, sizes = classify_widths(formula, dict(widths))
    return ProgramLayout(print_source(formula, tuple(classes.items())), sizes)
