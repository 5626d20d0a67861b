"""Reverse-mode differentiation of a trace: the derivative is another graph of the same nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from elman.formula.formula import Trace
from elman.formula.symbols import Node, constant, mul, neg, node, symbol, unary


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
            for operand, g in zip(a.operands, RULES[a.op](a, gradient[a]), strict=True):
                give(operand, g)
    return Derivative(**{kind: _by_name(trace, gradient, kind) for kind in ("x", "r", "s", "p")})


def _by_name(trace: Trace, gradient: dict[Node, Node], kind: str) -> dict[str, Node]:
    inputs = [a for a in trace.nodes if a.op == "input" and a.args[0] == kind]
    return {a.args[1]: gradient.get(a, constant(0)) for a in inputs}


RULES: dict[str, Callable[[Node, Node], tuple[Node, ...]]] = {
    "add": lambda a, g: (g, g),
    "sub": lambda a, g: (g, neg(g)),
    "mul": lambda a, g: (mul(g, a.args[1]), mul(g, a.args[0])),
    "neg": lambda a, g: (neg(g),),
    "sigmoid": lambda a, g: (mul(g, mul(a, 1 - a)),),
    "tanh": lambda a, g: (mul(g, 1 - mul(a, a)),),
    "relu": lambda a, g: (mul(g, node("positive", a)),),
    "exp": lambda a, g: (mul(g, a),),
    "rsqrt": lambda a, g: (mul(g, mul(constant(-0.5), mul(a, mul(a, a)))),),
    # The mean is the symmetric matrix 11ᵀ/H, so its own transpose.
    "mean": lambda a, g: (unary("mean", g),),
}
