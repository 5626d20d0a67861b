"""Walking over traced values."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from elman.formula.operation import OPS
from elman.formula.symbols import Node, operate


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


def order_values(outputs: Iterable[Node], known: Container[Node] = ()) -> list[Node]:
    """The same nodes in an order that does not depend on what was traced before: code is known by its text.

    What is ``known`` already is left out, with what it is made of.
    """
    order: dict[Node, None] = {}

    def visit(a: Node) -> None:
        if a not in order and a not in known:
            for operand in sort_operands(a):
                visit(operand)
            order[a] = None

    for output in outputs:
        visit(output)
    return list(order)


def sort_operands(a: Node) -> Sequence[Node]:
    """The operands in an order that does not depend on which was traced first."""
    commutes = a.op in OPS and OPS[a.op].has("commutative")
    return sorted(a.operands, key=lambda o: o.key) if commutes else a.operands


def substitute(a: Node, others: Mapping[Node, Node]) -> Node:
    """The same value with others in the place of some that it is made of."""
    made: dict[Node, Node] = {}
    for b in topological([a]):
        operands = [made[o] for o in b.operands]
        made[b] = others[b] if b in others else operate(b.op, *operands) if operands else b
    return made[a]


def is_rowless(a: Node) -> bool:
    """Is it the same for every row and step: made of constants and per-unit parameters alone?"""
    return all(i.args[0] == "p" for i in topological([a]) if i.op == "input")


def is_uniform(a: Node) -> bool:
    """Is it the same at every unit?"""
    if a.op in ("input", "constant"):
        return a.op == "constant"
    return OPS[a.op].has("reduction") or all(is_uniform(o) for o in a.operands)
