"""What a formula's trace says of its recurrence: which of its states can be known without the step before.

A recurrence is *dense* where a step multiplies by a recurrent matrix or takes all units at once, else
*pointwise*: each unit reads its own past alone. It is *linear in the state* where every new state is
a ⊙ old + b, with a and b made of the input: then all steps can be computed at once, by a parallel scan. States
may read others in an order: those of one level are made of the input and of the old states of earlier levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from elman.formula.formula import Formula, Trace
from elman.formula.operation import OPS
from elman.formula.symbols import Node, constant, is_input, symbol
from elman.formula.traversal import order_values

DENSE, POINTWISE, LINEAR = "dense", "pointwise", "linear in the state"
_ZERO, _ONE = constant(0), constant(1)


@dataclass(frozen=True)
class LinearState:
    """new = ``factor`` ⊙ old + ``term``; neither reads the state itself."""

    name: str
    factor: Node
    term: Node


@dataclass(frozen=True)
class Structure:
    """The class of a formula, and why; where it is linear, its states in the order of solving."""

    kind: str
    reason: str
    levels: tuple[tuple[LinearState, ...], ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


@cache
def find_structure(formula: Formula) -> Structure:
    """Read from the trace, and from nothing else."""
    trace = formula.trace
    if trace.products:
        names = ", ".join(f"U.{name}" for product in trace.products for name in product.names)
        return Structure(DENSE, f"a step multiplies by {names}")
    whole = next((a.op for a in order_values(trace.new.values()) if a.operands and not OPS[a.op].c), None)
    if whole is not None:
        return Structure(DENSE, f"{whole} takes all units at once")
    return _solve(trace)


def _solve(trace: Trace) -> Structure:
    """Level by level, the states that are linear in themselves and else read earlier levels only."""
    reads = {name: _find_states(a) for name, a in trace.new.items()}
    levels: list[tuple[LinearState, ...]] = []
    solved: set[str] = set()
    while len(solved) < len(reads):
        ready = [name for name in reads if name not in solved and reads[name] <= solved | {name}]
        if not ready:
            waiting = [name for name in reads if name not in solved]
            return Structure(POINTWISE, f"{_join(waiting)} read each other")
        forms = {name: split_linear(trace.new[name], symbol("s", name)) for name in ready}
        bent = next((name for name, form in forms.items() if isinstance(form, str)), None)
        if bent is not None:
            return Structure(POINTWISE, f"{bent} is not linear in itself: it is read by {forms[bent]}")
        levels.append(
            tuple(LinearState(name, *form) for name, form in forms.items() if not isinstance(form, str))
        )
        solved |= set(ready)
    return Structure(LINEAR, _say_why(levels), tuple(levels))


def split_linear(a: Node, old: Node) -> tuple[Node, Node] | str:
    """Factor and term of ``a`` = factor ⊙ old + term; the operation that is not linear, where there is one."""
    forms: dict[Node, tuple[Node, Node]] = {}
    for b in order_values([a]):
        if b is old:
            forms[b] = _ONE, _ZERO
        elif not b.operands or all(forms[o][0] is _ZERO for o in b.operands):
            forms[b] = _ZERO, b
        else:
            form = _combine(b, [forms[o] for o in b.operands])
            if form is None:
                return b.op
            forms[b] = form
    return forms[a]


def _combine(a: Node, forms: Sequence[tuple[Node, Node]]) -> tuple[Node, Node] | None:
    """The form of an operation on values of which some read the old state."""
    (factor, term), *others = forms
    if a.op == "neg":
        return -factor, -term
    if a.op in ("add", "sub"):
        ((other_factor, other_term),) = others
        if a.op == "add":
            return factor + other_factor, term + other_term
        return factor - other_factor, term - other_term
    if a.op == "mul":
        if factor is _ZERO:
            (factor, term), others = others[0], [forms[0]]
        ((slope, scale),) = others
        return (factor * scale, term * scale) if slope is _ZERO else None
    if a.op == "div" and others[0][0] is _ZERO:
        return factor / others[0][1], term / others[0][1]
    return None


def _find_states(a: Node) -> set[str]:
    """The old states that a value reads."""
    return {b.args[1] for b in order_values([a]) if is_input(b, "s")}


def _say_why(levels: Sequence[Sequence[LinearState]]) -> str:
    states = [state for level in levels for state in level]
    scanned = [state.name for state in states if state.factor is not _ZERO]
    read = [state.name for state in states if state.factor is _ZERO]
    parts = [f"{_join(scanned)} = a ⊙ old + b"] if scanned else []
    parts += [f"{_join(read)} from the input and other states"] if read else []
    return ", ".join(parts)


def _join(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
