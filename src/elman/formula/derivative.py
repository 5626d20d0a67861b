"""Reverse-mode differentiation of a trace: the derivative is another graph of the same nodes.

It is linear in the gradients it is given: Σ gradient ⊙ coefficient. The coefficients depend on what the forward
pass computed and on nothing else, so an executor can compute them for all steps at once and keep only the sums
in its backward loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elman.formula.formula import Trace
from elman.formula.operation import OPS
from elman.formula.symbols import Node, constant, is_input, lift, symbol
from elman.formula.traversal import topological

Form = Mapping[Node, Node]  # gradient -> its coefficient


@dataclass(frozen=True)
class Derivative:
    """The gradients of one step, by name.

    New inputs: ``d`` (the gradient of a new state) and ``q`` (the gradient that product number k gives
    back to its operand: the gradients of its results times its matrix).
    ``r`` is what each product's matrix must be multiplied with; ``s`` is the gradient of the old state.
    """

    x: Mapping[str, Node]
    r: Mapping[str, Node]
    s: Mapping[str, Node]
    p: Mapping[str, Node]


def derivative(trace: Trace) -> Derivative:
    """dL/dx, dL/dr, dL/ds, dL/dp from dL/ds'. Masks are given, so they get none."""
    gradient: dict[Node, Node] = {}

    def give(a: Node, g: Node) -> None:
        gradient[a] = gradient[a] + g if a in gradient else g

    for name, a in trace.new.items():
        give(a, symbol("d", name))
    results = {symbol("r", n): k for k, p in enumerate(trace.products) for n in p.names}
    waiting = [len(p.names) for p in trace.products]
    for a in reversed(trace.nodes):
        if a in results:
            k = results[a]
            waiting[k] -= 1
            if waiting[k] == 0:
                give(trace.products[k].operand, symbol("q", str(k)))
        elif a in gradient and a.operands:
            for operand, g in zip(a.operands, OPS[a.op].gradients(gradient[a], a), strict=True):
                give(operand, lift(g))
    inputs = {kind: [a for a in trace.nodes if is_input(a, kind)] for kind in "xrsp"}
    return Derivative(**{k: {a.args[1]: gradient.get(a, constant(0)) for a in of} for k, of in inputs.items()})


@dataclass(frozen=True)
class Linear:
    """``x``, ``r``, ``s``, ``p`` of a derivative as sums over gradients.

    A gradient is an input (``d``, ``q``) or a sum that several others are multiples of; ``sums`` says what the
    latter are, in the order of computing. A mean over units is a gradient too: its form is that of its operand.
    """

    sums: Mapping[Node, Form]
    x: Mapping[str, Form]
    r: Mapping[str, Form]
    s: Mapping[str, Form]
    p: Mapping[str, Form]


def linear(derivative: Derivative) -> Linear:
    """The derivative as sums over gradients."""
    parts = vars(derivative)
    forms: dict[Node, Form] = {}
    sums: dict[Node, Form] = {}
    for a in topological([n for part in parts.values() for n in part.values()]):
        form = _form(a, forms, sums)
        if form is not None:
            forms[a] = form
    return Linear(sums, **{k: {name: forms.get(a, {}) for name, a in p.items()} for k, p in parts.items()})


def _form(a: Node, forms: dict[Node, Form], sums: dict[Node, Form]) -> Form | None:
    """The form of ``a``, or None where no gradient enters it."""
    if a.op == "input":
        return {a: constant(1)} if is_input(a, "dq") else None
    entered = [o for o in a.operands if o in forms]
    if not entered:
        return None
    if a.op == "add":
        return _plus(forms[a.args[0]], forms[a.args[1]])
    if a.op == "sub":
        return _plus(forms[a.args[0]], _times(forms[a.args[1]], constant(-1)))
    if a.op == "neg":
        return _times(forms[a.args[0]], constant(-1))
    if OPS[a.op].has("reduction"):
        sums[a] = forms[a.args[0]]
        return {a: constant(1)}
    value, factor = a.args if a.args[0] is entered[0] else a.args[::-1]
    if len(forms[value]) > 1:  # a longer sum becomes a gradient of its own
        sums[value], forms[value] = forms[value], {value: constant(1)}
    return _times(forms[value], factor)


def _plus(a: Form, b: Form) -> Form:
    zero = constant(0)
    both = {g: a.get(g, zero) + b.get(g, zero) for g in (*a, *b)}
    return {g: k for g, k in both.items() if k is not zero}


def _times(a: Form, factor: Node) -> Form:
    return {g: k * factor for g, k in a.items()}
