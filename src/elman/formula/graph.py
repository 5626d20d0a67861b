"""Walking over traced values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from elman.formula.symbols import Node, add, mul, neg, sub, unary


def topological(outputs: Iterable[Node]) -> list[Node]:
    """Every node the outputs are made of, operands first."""
    order: dict[Node, None] = {}

    def visit(a: Node) -> None:
        if a not in order:
            for operand in a.operands:
                visit(operand)
            order[a] = None

    for output in outputs:
        visit(output)
    return list(order)


def substitute(a: Node, inputs: Mapping[Node, Node]) -> Node:
    """The same value of other inputs."""
    made: dict[Node, Node] = {}
    for b in topological([a]):
        operands = [made[o] for o in b.operands]
        if not operands:
            made[b] = inputs.get(b, b)
        elif len(operands) == 1:
            made[b] = neg(*operands) if b.op == "neg" else unary(b.op, *operands)
        else:
            made[b] = {"add": add, "sub": sub, "mul": mul}[b.op](*operands)
    return made[a]
