"""A derivative is linear in the gradients it is given: Σ gradient ⊙ coefficient.

The coefficients depend on what the forward pass computed and on nothing else, so an executor can compute
them for all steps at once and keep only the sums in its backward loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from elman.formula.derivative import Derivative
from elman.formula.graph import topological
from elman.formula.symbols import Node, add, constant, mul, neg

Form = Mapping[Node, Node]  # gradient -> its coefficient


@dataclass(frozen=True)
class Linear:
    """``x``, ``r``, ``s``, ``p`` of a derivative as sums over gradients.

    A gradient is an input (``d``, ``q``) or a sum that several others are multiples of; ``sums`` says
    what the latter are, in the order of computing. A mean over units is a gradient too: its form is
    that of its operand.
    """

    sums: Mapping[Node, Form]
    x: Mapping[str, Form]
    r: Mapping[str, Form]
    s: Mapping[str, Form]
    p: Mapping[str, Form]


def linear(derivative: Derivative) -> Linear:
    parts = {kind: getattr(derivative, kind) for kind in ("x", "r", "s", "p")}
    forms: dict[Node, Form] = {}
    sums: dict[Node, Form] = {}
    for a in topological([n for part in parts.values() for n in part.values()]):
        form = _form(a, forms, sums)
        if form is not None:
            forms[a] = form
    return Linear(
        sums,
        **{k: {name: forms.get(n, {}) for name, n in part.items()} for k, part in parts.items()},
    )


def _form(a: Node, forms: dict[Node, Form], sums: dict[Node, Form]) -> Form | None:
    """The form of ``a``, or None where no gradient enters it."""
    if a.op == "input":
        return {a: constant(1)} if a.args[0] in "dq" else None
    entered = [o for o in a.operands if o in forms]
    if not entered:
        return None
    if a.op == "add":
        return _plus(forms[a.args[0]], forms[a.args[1]])
    if a.op == "sub":
        return _plus(forms[a.args[0]], _times(forms[a.args[1]], constant(-1)))
    if a.op == "neg":
        return _times(forms[a.args[0]], constant(-1))
    if a.op == "mean":
        sums[a] = forms[a.args[0]]
        return {a: constant(1)}
    factor = a.args[1] if a.args[0] is entered[0] else a.args[0]
    return _times(_single(entered[0], forms, sums), factor)


def _single(a: Node, forms: dict[Node, Form], sums: dict[Node, Form]) -> Form:
    """``a`` as a multiple of one gradient; a longer sum becomes a gradient of its own."""
    if len(forms[a]) > 1:
        sums[a] = forms[a]
        forms[a] = {a: constant(1)}
    return forms[a]


def _plus(a: Form, b: Form) -> Form:
    zero = constant(0)
    both = {g: add(a.get(g, zero), b.get(g, zero)) for g in (*a, *b)}
    return {g: k for g, k in both.items() if k is not zero}


def _times(a: Form, factor: Node) -> Form:
    if factor is constant(-1):
        return {g: neg(k) for g, k in a.items()}
    return {g: mul(k, factor) for g, k in a.items()}
