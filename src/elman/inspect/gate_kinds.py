"""What the field calls the values of a cell: gates, candidates, states."""

from __future__ import annotations

from elman.formula import Formula, Node, values

OPENING = frozenset(
    {"sigmoid", "softmax", "exp", "softplus"}
)  # not below zero: how far something is let through
WRITTEN = frozenset({"tanh", "relu", "silu", "gelu"})


def value_kinds(formula: Formula) -> dict[str, str]:
    """By name of ``values``: state, gate, candidate (what would be written), or pre-activation.

    A gate's input without an activation function is a candidate where it is multiplied as it is (minGRU);
    else (sLSTM) it is named for what it is.
    """
    return {name: _kind(formula, name, node) for name, node in values(formula).items()}


def _kind(formula: Formula, name: str, node: Node) -> str:
    if name in formula.states:
        return "state"
    if node.op in OPENING:
        return "gate"
    users = formula.trace.uses.get(node, ())
    multiplied = any(user.op == "mul" for user in users)
    return "candidate" if node.op in WRITTEN or multiplied else "pre-activation"
