"""A step of a cell in JavaScript, printed from its trace.

JavaScript writes C's expressions, only its functions have other names: so it has no column of its own in the
table of operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from elman.formula.formula import Formula
from elman.formula.operation import OPS, Op
from elman.formula.step_plan import StepPlan, takes_all_units
from elman.formula.symbols import Node

_CALL = re.compile(r"\b(exp|log|log1p|tanh|sqrt|pow|fabs)\(")
_NAMES = {"fabs": "abs"}


def javascript_template(op: Op) -> str:
    """The operation on numbers, its operands ``{0}`` and ``{1}``; "" where it takes all units at once."""
    plain = op.c.replace("(real)", "")
    return _CALL.sub(lambda call: f"Math.{_NAMES.get(call[1], call[1])}(", plain)


@dataclass(frozen=True)
class PrintedStep:
    """A step as a function of x, r, s, p, m (arrays by name), t (those of ``stored``, by number) and multiply.

    ``multiply(k, operand)`` fills the arrays of r that product k gives. ``stored`` has the width of each value
    that stays in an array, by its number in ``formula_to_data``: the gates and new states are among them.
    """

    source: str
    stored: Mapping[int, int]


def print_step(formula: Formula, widths: Mapping[str, int]) -> PrintedStep:
    """The step of a cell whose gates, states and matrices have these widths."""
    plan = StepPlan(formula, widths)
    return PrintedStep("\n".join(_lines(plan)), {plan.place[a]: plan.width[a] or 1 for a in plan.stored})


def _lines(plan: StepPlan) -> Iterator[str]:
    trace = plan.formula.trace
    yield "(x, r, s, p, m, t, multiply) => {"
    for a in trace.nodes:
        if a.op == "input":
            yield f"  const v{plan.place[a]} = {a.args[0]}[{json.dumps(a.args[1])}];"
    for a in plan.stored:
        yield f"  const t{plan.place[a]} = t[{plan.place[a]}];"
    for stage in range(max(plan.stage.values()) + 1):
        for k, product in enumerate(trace.products):
            if plan.stage[product.operand] == stage - 1:
                yield f"  multiply({k}, {_whole(product.operand, plan)});"
        here = [a for a in trace.nodes if plan.stage[a] == stage and a.operands]
        for a in here:
            if takes_all_units(a):
                yield f"  {_reduction(a, plan)}"
        pointwise = [a for a in here if not takes_all_units(a)]
        for a in pointwise:
            if plan.width[a] is None:
                yield f"  {_statement(a, plan)}"
        for width in dict.fromkeys(w for w in map(plan.width.__getitem__, pointwise) if w is not None):
            yield f"  for (let k = 0; k < {width}; k++) {{"
            yield from (f"    {_statement(a, plan)}" for a in pointwise if plan.width[a] == width)
            yield "  }"
    yield "}"


def _whole(a: Node, plan: StepPlan) -> str:
    """A value at all units, as an array."""
    return f"{'t' if a in plan.stored else 'v'}{plan.place[a]}"


def _reduction(a: Node, plan: StepPlan) -> str:
    """A value of all units: a number, or as many again."""
    number, operand = plan.place[a], _whole(a.args[0], plan)
    if plan.width[a] is None:
        return f"const v{number} = {a.op}Units({operand});"
    return f"{a.op}Units({operand}, t{number});"


def _statement(a: Node, plan: StepPlan) -> str:
    operands = [_operand(o, a, plan) for o in a.operands]
    number, written = plan.place[a], javascript_template(OPS[a.op]).format(*operands)
    store = f" t{number}[k] = v{number};" if a in plan.stored else ""
    return f"const v{number} = {written};{store}"


def _operand(o: Node, reader: Node, plan: StepPlan) -> str:
    """A value where another reads it: a number, a local of the same loop, or a unit of an array."""
    number = plan.place[o]
    if o.op == "constant":
        return repr(o.args[0]) if o.args[0] >= 0 else f"({o.args[0]!r})"
    if plan.width[o] is None:
        return f"v{number}"
    if o.op == "input":
        return f"v{number}[k]"
    here = plan.stage[o] == plan.stage[reader] and not takes_all_units(o)
    return f"v{number}" if here else f"t{number}[k]"
