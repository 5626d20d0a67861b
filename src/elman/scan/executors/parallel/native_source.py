"""A recurrence of single units as C++: a row after the other, its units in the lanes of the processor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from elman.formula import Node
from elman.formula.operation import OPS
from elman.formula.traversal import sort_operands
from elman.scan.executors.parallel.unit_plan import UnitPlan

_LOAD = "load_up_to({0} + j, count)"


class UnitSource:
    """The C++ of a plan; ``forward`` and ``backward`` name the buffers that each is given, in order."""

    def __init__(self, plan: UnitPlan) -> None:
        self.plan, self.formula = plan, plan.formula
        self.forward = _RowPrinter(plan, backward=False)
        self.backward = _RowPrinter(plan, backward=True)
        lines = ['#include "units.hpp"', ""]
        lines += ["template <bool KEEP>", *self.forward.print("read_row", self.forward.print_reading())]
        lines += self.backward.print("return_row", self.backward.print_return())
        arrays = max(len(self.forward.arrays), len(self.backward.arrays))
        lines += ["static long count_scratch(long width) {", f"  return {arrays} * (width + LANES);", "}", ""]
        self.text = "\n".join(lines)


class _RowPrinter:
    def __init__(self, plan: UnitPlan, *, backward: bool) -> None:
        self.plan, self.formula = plan, plan.formula
        self.buffers: list[str] = []
        self.arrays: list[str] = []  # scratch memory, a number for each unit
        self.loads: dict[str, str] = {}  # of one step: name -> value
        values = plan.gradients if backward else [*plan.trace.new.values()]
        self.hoisted = plan.find_hoisted(values)
        self.known = {a: f"hoisted{i}" for i, a in enumerate(self.hoisted)}

    def buffer(self, name: str) -> str:
        if name not in self.buffers:
            self.buffers.append(name)
        return f"b{self.buffers.index(name)}"

    def array(self, name: str) -> str:
        """Where numbers of the row lie in scratch memory."""
        if name not in self.arrays:
            self.arrays.append(name)
        return f"(scratch + {self.arrays.index(name)} * (width + LANES))"

    def print(self, name: str, body: Sequence[str]) -> list[str]:
        head = f"static void {name}(const UnitJob& job, const UnitSpan& at, float* scratch) {{"
        declared = ["const long width = job.width, length = at.end - at.begin;"]
        declared += [f"float* const b{i} = job.buffers[{i}];" for i in range(len(self.buffers))]
        return [head, *(f"  {line}" for line in [*declared, *body]), "}"]

    def print_reading(self) -> list[str]:
        """Forward: the states lie in scratch memory; the output and what the way back reads are written."""
        formula, plan = self.formula, self.plan
        begin = [self._copy(self.array(n), self._of_row(f"s0 {n}")) for n in formula.states]
        end = [self._copy(self._of_row(f"final {n}"), self.array(n)) for n in formula.states]
        targets = {f"new_{n}": a for n, a in plan.trace.new.items()}
        body = self._statements(targets, lambda name: f"load({self.array(name)} + j)")
        body += [f"store({self.array(n)} + j, new_{n});" for n in formula.states]
        body += [self._store("Y", f"new_{formula.output}")]
        body += [f"if (KEEP) {self._store(f'H {n}', f'new_{n}')}" for n in plan.kept]
        token = ["const long token = find_token(job, at, n);"]
        loop = ["for (long n = 0; n < length; n++) {", *self._indent([*token, *self._over_units(body)]), "}"]
        return [*self._print_hoisted(), *begin, *loop, *end]

    def print_return(self) -> list[str]:
        """Backward: the gradients of the old state lie in scratch memory."""
        formula, plan = self.formula, self.plan
        begin = [self._copy(self.array(n), self._of_row(f"d {n}")) for n in formula.states]
        end = [self._copy(self._of_row(f"d0 {n}"), self.array(n)) for n in formula.states]
        units = [*formula.parameters]
        begin += [self._over([f"store({self.array(f'sum {n}')} + j, spread(0.f));"]) for n in units]
        targets = {f"dx_{g}": plan.gradient("x", g) for g in formula.gates}
        targets |= {f"ds_{n}": plan.gradient("s", n) for n in formula.states}
        targets |= {f"dp_{n}": plan.gradient("p", n) for n in units}
        body = self._statements(targets, lambda name: f"load_up_to(old_{name} + j, count)")
        body += [self._store("dX", f"dx_{g}", self._gate(g)) for g in formula.gates]
        body += [f"store({self.array(n)} + j, ds_{n});" for n in formula.states]
        body += [
            f"store({self.array(f'sum {n}')} + j, load({self.array(f'sum {n}')} + j) + dp_{n});" for n in units
        ]
        token = ["const long token = find_token(job, at, n), before = find_token(job, at, n - 1);"]
        token += [
            f"const float* old_{n} = n ? {self._old(n)} : {self._of_row(f's0 {n}')};" for n in plan.history
        ]
        flush = [self._flush(i, n) for i, n in enumerate(units)]
        often = ["if (n % VALUES_BEFORE_SUM == 0) {", *self._indent(flush), "}"] if units else []
        inner = self._indent([*token, *self._over_units(body), *often])
        return [*self._print_hoisted(), *begin, "for (long n = length - 1; n >= 0; n--) {", *inner, "}", *end]

    def _flush(self, i: int, name: str) -> str:
        total = f"job.totals + ((long)at.piece * {len(self.formula.parameters)} + {i}) * width"
        return f"add_units({total}, {self.array(f'sum {name}')}, at.first, at.last);"

    def _statements(self, targets: Mapping[str, Node], read_state: Callable[[str], str]) -> list[str]:
        """The values of one step, from what it reads."""

        def leaf(a: Node) -> str:
            kind, name = a.args
            if kind == "s":
                return read_state(name)
            if kind == "d":
                carried = f"load({self.array(name)} + j)"
                given = _LOAD.format(f"({self.buffer('dY')} + token * width)")
                return f"{carried} + {given}" if name == self.formula.output else carried
            if kind == "p":
                return _LOAD.format(self.buffer(f"p {name}"))
            at = f"({self.buffer('X')} + token * {len(self.formula.gates)} * width + {self._gate(name)})"
            return _LOAD.format(at if kind == "x" else f"({self.buffer(f'm {name}')} + token * width)")

        known = {a: f"load({self.array(name)} + j)" for a, name in self.known.items()}
        return print_lanes(targets, leaf, known)

    def _print_hoisted(self) -> list[str]:
        body = print_lanes(
            {name: a for a, name in self.known.items()},
            lambda a: _LOAD.format(self.buffer(f"p {a.args[1]}")),
            {},
        )
        body += [f"store({self.array(name)} + j, {name});" for name in self.known.values()]
        return self._over_units(body) if self.known else []

    def _over_units(self, body: Sequence[str]) -> list[str]:
        head = "for (int j = at.first; j < at.last; j += LANES) {"
        return [head, "  const int count = at.last - j;", *self._indent(body), "}"]

    def _over(self, body: Sequence[str]) -> str:
        return " ".join(self._over_units(body))

    def _copy(self, target: str, source: str) -> str:
        return f"memcpy({target} + at.first, {source} + at.first, 4 * (at.last - at.first));"

    def _of_row(self, name: str) -> str:
        return f"({self.buffer(name)} + at.row * width)"

    def _old(self, name: str) -> str:
        gates = len(self.formula.gates) if self.plan.find_source(name) else 1
        return f"{self.buffer(f'H {name}')} + before * {gates} * width"

    def _gate(self, name: str) -> str:
        return f"{self.formula.gates.index(name)} * width"

    def _store(self, buffer: str, value: str, first: str = "0") -> str:
        gates = len(self.formula.gates) if buffer == "dX" else 1
        return f"store_up_to({self.buffer(buffer)} + token * {gates} * width + {first} + j, {value}, count);"

    def _indent(self, lines: Sequence[str]) -> list[str]:
        return [f"  {line}" for line in lines]


def print_lanes(
    targets: Mapping[str, Node], leaf: Callable[[Node], str], known: Mapping[Node, str]
) -> list[str]:
    """One statement a value, operands first; the targets are declared, inputs and what is known read once."""
    names: dict[Node, str] = {}
    lines: list[str] = []

    def write(a: Node) -> str:
        if a.op == "constant":
            return f"spread((float){a.args[0]!r})"
        if a not in names:
            value = known.get(a) or (leaf(a) if a.op == "input" else compute(a))
            names[a] = f"v{len(lines)}"
            lines.append(f"const lanes {names[a]} = {value};")
        return names[a]

    def compute(a: Node) -> str:
        return OPS[a.op].lanes.format(*(write(o) for o in sort_operands(a)))

    for target, a in targets.items():
        value = write(a)
        lines.append(f"const lanes {target} = {value};")
    return lines
