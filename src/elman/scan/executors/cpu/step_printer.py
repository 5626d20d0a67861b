"""A step as C++: loops over rows and lanes, stage after stage, each with the products it needs first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import groupby

from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.traversal import is_uniform
from elman.scan.executors.cpu.lane_source import (
    MOST_PARTS,
    Body,
    LaneGroup,
    Place,
    Pointers,
    add_up,
    indent,
    is_constant,
)
from elman.scan.executors.cpu.value_plan import ValuePlan

Home = tuple[int, int]  # a stage and a class of width


class StepPrinter(ABC):
    """Prints one kind of step. What is read in a later stage than it is computed in lies in scratch memory."""

    def __init__(self, plan: ValuePlan) -> None:
        self.plan = plan
        self.buffers: list[str] = []
        self.kept: list[Node] = []  # in scratch memory
        self._attempt()
        while self.missing:
            self.kept += sorted(self.missing, key=lambda a: a.key)
            self._attempt()

    def _attempt(self) -> None:
        self.pointers, self.bodies, self.missing = Pointers(), dict[Home, Body](), set[Node]()
        self.reductions: list[Node] = []
        self.groups: list[LaneGroup] = []
        self.buffers.clear()
        self.write()
        for a in self.kept:
            body = self.body_of(a)
            body.store(self.pointers.at(self._scratch(a)), a)

    @abstractmethod
    def write(self) -> None:
        """Let bodies compute and store all that the step is for."""

    @abstractmethod
    def stage(self, a: Node) -> int: ...

    @abstractmethod
    def results(self) -> dict[Node, tuple[int, str]]:
        """What products give: the number and the name."""

    @abstractmethod
    def multiply(self, group: LaneGroup) -> str: ...

    @abstractmethod
    def read(self, a: Node) -> Place | str | None:
        """Where a value lies before the step, or what it is; None where the step computes it."""

    def buffer(self, key: str) -> str:
        if key not in self.buffers:
            self.buffers.append(key)
        return f"((float*)job.buffers[{self.buffers.index(key)}])"

    def body_of(self, a: Node, width: int | None = None) -> Body:
        """The loop that computes a value; ``width`` of its target where it has none of its own."""
        wide = self.plan.width(a) if a.op != "constant" else None
        return self.body(self.stage(a), wide if wide is not None else width or 0)

    def body(self, stage: int, width: int) -> Body:
        if (stage, width) not in self.bodies:
            groups = [*self._find_groups(stage, width)]
            found = {self.result_node(g, n): (g, i) for g in groups for i, n in enumerate(g.names)}
            leaf = lambda a, body: self._leaf(a, stage, body)  # noqa: E731
            self.bodies[stage, width] = Body(width, groups, leaf, found)
        return self.bodies[stage, width]

    def _find_groups(self, stage: int, width: int) -> Iterator[LaneGroup]:
        """The products whose results are read first in this loop."""
        here = [
            (k, name)
            for a, (k, name) in self.results().items()
            if (self.stage(a), self.plan.width(a)) == (stage, width)
        ]
        each = [
            (k, [name for _, name in some])
            for k, some in groupby(sorted(here, key=lambda r: r[0]), lambda r: r[0])
        ]
        cut = [(k, some[i : i + MOST_PARTS]) for k, some in each for i in range(0, len(some), MOST_PARTS)]
        blocks = max(1, 4 // max((len(some) for _, some in cut), default=4))
        for k, some in cut:
            self.groups.append(LaneGroup(k, tuple(some), blocks, len(self.groups)))
            yield self.groups[-1]

    def result_node(self, group: LaneGroup, name: str) -> Node:
        return next(a for a, (k, n) in self.results().items() if (k, n) == (group.product, name))

    def _leaf(self, a: Node, stage: int, body: Body) -> str | None:
        place = self.read(a)
        if isinstance(place, Place):
            load = "load_early" if place.row == "token" else "load_up_to"
            return f"{load}({self.pointers.at(place)}, count)"
        if place is not None:
            return place
        if a.operands and OPS[a.op].has("reduction"):
            return f"spread(mean{self._reduce(a)}[row])"
        if is_uniform(a) or is_constant(a) or not self.is_computed(a) or self.stage(a) == stage:
            return None
        if a not in self.kept:
            self.missing.add(a)
        return f"load_up_to({self.pointers.at(self._scratch(a))}, count)"

    def is_computed(self, a: Node) -> bool:
        """Is it computed once, and not again wherever it is read?"""
        return True

    def _reduce(self, a: Node) -> int:
        """The number of a mean over units; the loop of its operand adds it up."""
        if a not in self.reductions:
            number = len(self.reductions)
            self.reductions.append(a)
            body = self.body_of(a.args[0])
            value, at = body.value(a.args[0]), f"sum{number} + row * LANES"
            body.before.append(f"memset(sum{number}, 0, at.n * LANES * sizeof(float));")
            body.stores.append(f"store({at}, load({at}) + keep_first({value}, count));")
            mean = f"sum_up(load({at})) / W[{body.width}]"
            body.after.append(f"for (int row = 0; row < at.n; row++) mean{number}[row] = {mean};")
        return self.reductions.index(a)

    def _scratch(self, a: Node) -> Place:
        number = self.kept.index(a) if a in self.kept else 0
        return Place(f"kept{number}", "here", f"W[{self.plan.width(a)}]")

    def columns(self, names: tuple[str, ...], count: int) -> str:
        """The width of so many of the first names together."""
        return add_up(f"W[{self.plan.classes[name]}]" for name in names[:count])

    def state(self, name: str, row: str) -> Place:
        return Place(self.buffer(f"S {name}"), row, f"W[{self.plan.classes[name]}]")

    def parameter(self, name: str) -> Place:
        return Place(self.buffer(f"p {name}"), "none", "0")

    def input(self, gate: str, buffer: str = "X") -> Place:
        gates = self.plan.formula.gates
        first = self.columns(gates, gates.index(gate))
        return Place(self.buffer(buffer), "token", self.columns(gates, len(gates)), first)

    def extra(self, a: Node) -> Place:
        """A stored value beside the input."""
        widths = ["1" if (w := self.plan.width(b)) is None else f"W[{w}]" for b in self.plan.extra]
        first = add_up(widths[: self.plan.extra.index(a)])
        return Place(self.buffer("E"), "token", add_up(widths), first)

    def operand(self, a: Node) -> Place:
        """What a product multiplies, or what came of it."""
        if a in self.plan.states:
            return self.state(self.plan.states[a], "fresh")
        if a in self.plan.operands:
            return Place(self.buffer(f"V {self.plan.operands.index(a)}"), "token", f"W[{self.plan.width(a)}]")
        kind, name = a.args
        return self.input(name) if kind == "x" else self.state(name, "old")

    def print_groups(self, group: LaneGroup, place: Place, depth: str) -> str:
        pointer, stride = self.pointers.rows(place)
        panel = f"{self.buffer(f'panel {group.number}')} + (long)begin * ({depth}) * {len(group.names)}"
        given = f"blocks, at.n, {depth}, {pointer}, {stride}, {panel}, tile{group.number}"
        return f"Panels<{len(group.names)}, {group.blocks}>::multiply({given});"

    def scratch(self) -> dict[str, str]:
        """The blocks of scratch memory and how many numbers a row of each has."""
        sizes = {f"tile{g.number}": f"{g.vectors} * LANES" for g in self.groups}
        sizes |= {f"kept{i}": f"W[{self.plan.width(a)}]" for i, a in enumerate(self.kept)}
        for i in range(len(self.reductions)):
            sizes |= {f"sum{i}": "LANES", f"mean{i}": "LANES"}
        return sizes

    def lines(self) -> list[str]:
        """The statements of the step."""
        ordered = [body for _, body in sorted(self.bodies.items())]
        loops = [line for body in ordered for line in body.print(self.multiply)]
        blocks = [
            line
            for name, size in self.scratch().items()
            for line in (f"float* {name} = scratch;", f"scratch += (long)at.n * ({size});")
        ]
        head = ["const int32_t* W = job.widths;", *blocks, *self.pointers.declare()]
        return indent([*head, *loops])
