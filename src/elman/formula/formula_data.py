"""A formula as plain data: what JSON can hold of it, and a digest that every process computes alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from elman.formula.operation import OPS
from elman.formula.symbols import Node, symbol
from elman.formula.traversal import topological

if TYPE_CHECKING:
    from elman.formula.formula import Formula, Trace

FORMAT = 1


def formula_to_data(formula: Formula) -> dict[str, Any]:
    """Names, and all values in the order of computing; each refers to earlier ones by their numbers, from 0.

    A value is ``["x", "f"]``, an input of kind x, s, p or m; ``["number", 0.5]``; ``["U", "f", 3]``, value 3
    times the matrix f; or an operation, ``["add", 1, 4]``. ``new`` has the number of each new state.
    """
    values, place = list_values(formula.trace)
    return {
        "format": FORMAT,
        "name": formula.name,
        "gates": [*formula.gates],
        "states": [*formula.states],
        "parameters": dict(formula.parameters),
        "masks": [*formula.masks],
        "output": formula.output,
        "matrices": [*formula.matrices],
        "values": values,
        "new": {name: place[a] for name, a in formula.trace.new.items()},
    }


def digest_formula(formula: Formula) -> str:
    """Of all that a formula computes, not of its name, of how it is written or where parameters begin."""
    data = formula_to_data(formula)
    computed = {**data, "name": "", "parameters": [*formula.parameters]}
    return sha256(json.dumps(computed, sort_keys=True).encode()).hexdigest()[:16]


def list_values(trace: Trace) -> tuple[list[list[Any]], dict[Node, int]]:
    """Each value once, operands first, products in the order of their matrices; and where each stands."""
    keys = _structural_keys(trace)
    values: list[list[Any]] = []
    place: dict[Node, int] = {}

    def put(a: Node, line: list[Any]) -> None:
        place[a] = len(values)
        values.append(line)

    def visit(a: Node) -> None:
        if a in place:
            return
        operands = _ordered(a, keys)
        for operand in operands:
            visit(operand)
        if a.op == "constant":
            put(a, ["number", a.args[0]])
        else:
            put(a, [*a.args] if a.op == "input" else [a.op, *(place[o] for o in operands)])

    for product in trace.products:
        visit(product.operand)
        for name in product.names:
            put(symbol("r", name), ["U", name, place[product.operand]])
    for a in trace.new.values():
        visit(a)
    return values, place


def _structural_keys(trace: Trace) -> dict[Node, bytes]:
    """A digest of each value by what it is made of: its number depends on what was traced before."""
    keys: dict[Node, bytes] = {}
    for a in topological([*(p.operand for p in trace.products), *trace.new.values()]):
        parts = [keys[o] for o in _ordered(a, keys)] or [repr(a.args).encode()]
        keys[a] = sha256(a.op.encode() + b" ".join(parts)).digest()
    return keys


def _ordered(a: Node, keys: Mapping[Node, bytes]) -> tuple[Node, ...]:
    """The operands; where their order does not matter, in one that no process chooses otherwise."""
    commutes = bool(a.operands) and OPS[a.op].has("commutative")
    return tuple(sorted(a.operands, key=keys.__getitem__)) if commutes else a.operands
