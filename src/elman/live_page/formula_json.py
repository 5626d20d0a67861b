"""A formula as the page's scripts read it: the graph of ``formula_to_data``, its products side by side."""

from __future__ import annotations

from typing import Any

from elman.formula import Formula, values
from elman.formula.formula_data import formula_to_data, list_values


def formula_to_json(formula: Formula) -> dict[str, Any]:
    """Nodes ``{op, args}`` by number, the products of a step, new states, and the values that have a name."""
    data, place = formula_to_data(formula), list_values(formula.trace)[1]
    products = [{"operand": place[p.operand], "names": list(p.names)} for p in formula.trace.products]
    return {
        **{key: data[key] for key in ("name", "gates", "states", "masks", "output", "matrices", "new")},
        "parameters": list(formula.parameters),
        "nodes": [_node(*line) for line in data["values"]],
        "products": products,
        "values": {name: place[a] for name, a in values(formula).items()},
    }


def _node(kind: str, *rest: Any) -> dict[str, Any]:
    """A line of ``formula_to_data``: an input, a number, the result of a product, or an operation."""
    if kind == "U":
        return {"op": "input", "args": ["r", rest[0]]}
    if kind == "number":
        return {"op": "constant", "args": [*rest]}
    return {"op": "input", "args": [kind, *rest]} if isinstance(rest[0], str) else {"op": kind, "args": [*rest]}
