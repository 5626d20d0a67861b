"""The steps of a cell in C++ for a few rows, printed from its trace: matrices are read as they lie in memory.

The source depends on the formula and on which widths are equal, not on the widths: one library fits all sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elman.errors import FormulaError
from elman.formula.formula import Formula
from elman.formula.operation import OPS
from elman.formula.step_plan import StepPlan, takes_all_units
from elman.formula.symbols import Node
from elman.formula.traversal import order_values, sort_operands

_HEAD = """#include "few_rows.hpp"

template <typename T>
static void run_steps(int rows, int steps, const int* w, float* const* given, float* scratch) {
  const long n = rows;"""
_TAIL = """
extern "C" void elman_steps(int rows, int steps, const int* w, float* const* given, float* scratch) {
  run_steps<float>(rows, steps, w, given, scratch);
}
extern "C" void elman_steps_bfloat16(int rows, int steps, const int* w, float* const* given, float* scratch) {
  run_steps<bfloat16>(rows, steps, w, given, scratch);
}"""


def print_steps(formula: Formula, widths: Mapping[str, int]) -> str:
    """Source of ``elman_steps(rows, steps, w, given, scratch)``; `distinct_widths` are its w.

    ``elman_steps_bfloat16`` is the same with recurrent matrices that were packed (bfloat16.hpp).

    ``given`` holds x (steps, rows, all gates), the masks, the old states, the recurrent matrices, the per-unit
    parameters, and last the new states (steps, rows, width), which are written. ``scratch`` is for as many
    numbers as `count_scratch` says.
    """
    return "\n".join(_Steps(StepPlan(formula, widths)).lines())


def distinct_widths(formula: Formula, widths: Mapping[str, int]) -> list[int]:
    """The widths that a library reads: each once, in the order in which the formula names them."""
    return list(dict.fromkeys(widths[name] for name in formula.results))


def count_scratch(formula: Formula, widths: Mapping[str, int], rows: int) -> int:
    """Numbers that the steps need beside what they are given."""
    plan = StepPlan(formula, widths)
    results = sum(widths[n] for product in formula.trace.products for n in product.names)
    return rows * (results + sum(plan.width[a] or 0 for a in plan.stored))


class _Steps:
    def __init__(self, plan: StepPlan) -> None:
        self.plan, self.formula, self.trace = plan, plan.formula, plan.formula.trace
        self.known = distinct_widths(plan.formula, plan.widths)
        self.nodes = _order(plan.formula)
        self.number = {a: i for i, a in enumerate(self.nodes)}
        self.stored = [a for a in self.nodes if a in plan.stored]
        self.arrays: dict[Node, tuple[str, str]] = {}  # where a value lies: its first unit in row i

    def lines(self) -> Iterator[str]:
        yield _HEAD
        yield from self._declare()
        yield "  for (int step = 0; step < steps; step++) {"
        for stage in range(max(self.plan.stage.values()) + 1):
            yield from self._multiply(stage)
            yield from self._compute(stage)
        yield from self._advance()
        yield "  }\n}"
        yield _TAIL

    def _width(self, name: str) -> str:
        return self._units(self.plan.widths[name])

    def _units(self, width: int | None) -> str:
        return f"w[{self.known.index(width)}]" if width is not None else "1"

    def _total(self, names: Sequence[str]) -> str:
        return f"({' + '.join(map(self._width, names)) or '0'})"

    def _declare(self) -> Iterator[str]:
        """A pointer to each thing that was given, and to the places in between."""
        formula, place = self.formula, 0
        inputs = [("x", "all"), *(("m", n) for n in formula.masks), *(("s", n) for n in formula.states)]
        inputs += [("U", str(k)) for k in range(len(self.trace.products))]
        inputs += [*(("p", n) for n in formula.parameters), *(("new", n) for n in formula.states)]
        for place, (kind, name) in enumerate(inputs):
            written = f"float* {kind}_{name} = given[{place}];"
            packed = f"const T* {kind}_{name} = (const T*)given[{place}];"
            yield f"  {packed if kind == 'U' else written if kind == 'new' else f'const {written}'}"
        for k, product in enumerate(self.trace.products):
            yield f"  float* r_{k} = scratch;"
            yield f"  scratch += n * {self._total(product.names)};"
        for j, a in enumerate(self.stored):
            yield f"  float* t_{j} = scratch;"
            yield f"  scratch += n * {self._units(self.plan.width[a])};"
            self.arrays[a] = f"t_{j}", self._units(self.plan.width[a])
        self._find_inputs()

    def _find_inputs(self) -> None:
        formula, columns = self.formula, dict[str, tuple[str, str]]()
        for k, product in enumerate(self.trace.products):
            for i, name in enumerate(product.names):
                columns[name] = f"r_{k} + {self._total(product.names[:i])}", self._total(product.names)
        for a in self.nodes:
            if a.op != "input":
                continue
            kind, name = a.args
            if kind == "x":
                before = formula.gates[: formula.gates.index(name)]
                self.arrays[a] = f"x_all + {self._total(before)}", self._total(formula.gates)
            elif kind == "r":
                self.arrays[a] = columns[name]
            else:
                self.arrays[a] = f"{kind}_{name}", "0" if kind == "p" else self._width(name)

    def _multiply(self, stage: int) -> Iterator[str]:
        for k, product in enumerate(self.trace.products):
            if self.plan.stage[product.operand] == stage - 1:
                (first, stride), depth = (
                    self.arrays[product.operand],
                    self._units(self.plan.width[product.operand]),
                )
                total = self._total(product.names)
                sizes = f"rows, {total}, {depth}, {first}, {stride}"
                stride = f"find_stride(U_{k}, {depth})"
                yield f"    multiply_rows({sizes}, U_{k}, {stride}, 0, r_{k}, {total}, false);"

    def _compute(self, stage: int) -> Iterator[str]:
        here = [a for a in self.nodes if self.plan.stage[a] == stage and a.operands]
        if not here:
            return
        yield "    for (long i = 0; i < n; i++) {"
        for a in here:
            if takes_all_units(a):
                yield f"      {self._reduce(a)}"
        pointwise = [a for a in here if not takes_all_units(a)]
        yield from (f"      {self._statement(a)}" for a in pointwise if self.plan.width[a] is None)
        for width in dict.fromkeys(w for a in pointwise if (w := self.plan.width[a]) is not None):
            yield f"      for (int j = 0; j < {self._units(width)}; j += LANES) {{"
            yield f"        const int count = {self._units(width)} - j;"
            loop = [a for a in pointwise if self.plan.width[a] == width]
            yield from (f"        {self._statement(a)}" for a in loop)
            yield "      }"
        yield "    }"

    def _reduce(self, a: Node) -> str:
        if a.op not in ("mean", "sum"):
            raise FormulaError(f"{a.op} cannot be printed here")
        first, stride = self.arrays[a.args[0]]
        width = self._units(self.plan.width[a.args[0]])
        share = f" / {width}" if a.op == "mean" else ""
        return f"const lanes {self._name(a)} = spread(sum_units({first} + i * {stride}, {width}){share});"

    def _statement(self, a: Node) -> str:
        value = OPS[a.op].lanes.format(*(self._operand(o, a) for o in sort_operands(a)))
        line = f"const lanes {self._name(a)} = {value};"
        if a not in self.stored:
            return line
        first, stride = self.arrays[a]
        return f"{line} store_up_to({first} + i * {stride} + j, {self._name(a)}, count);"

    def _operand(self, o: Node, reader: Node) -> str:
        if o.op == "constant":
            return f"spread((float){o.args[0]!r})"
        same_stage = self.plan.stage[o] == self.plan.stage[reader]
        if self.plan.width[o] is None or (o.operands and same_stage and not takes_all_units(o)):
            if not same_stage:  # a number of one row, which the loop over rows forgets
                raise FormulaError(f"{o.op} cannot be printed here")
            return self._name(o)
        first, stride = self.arrays[o]
        return f"load_up_to({first} + i * {stride} + j, count)"

    def _name(self, a: Node) -> str:
        return f"v{self.number[a]}"

    def _advance(self) -> Iterator[str]:
        """The new states are the old ones of the next step."""
        for name, a in self.trace.new.items():
            first, stride = self.arrays[a]
            width = self._width(name)
            rows = f"new_{name} + i * {width}, {first} + i * {stride}"
            yield f"    for (long i = 0; i < n; i++) memcpy({rows}, 4 * {width});"
        for name in self.formula.states:
            yield f"    s_{name} = new_{name}, new_{name} += n * {self._width(name)};"
        for name in self.formula.masks:
            yield f"    m_{name} += n * {self._width(name)};"
        yield f"    x_all += n * {self._total(self.formula.gates)};"


def _order(formula: Formula) -> list[Node]:
    """All values, operands first, in the same order in every process: a library is known by its source."""
    return order_values((*(product.operand for product in formula.trace.products), *formula.trace.new.values()))
