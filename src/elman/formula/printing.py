"""Printers of traced values: expressions in torch, statements in C."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from elman.errors import FormulaError
from elman.formula.operation import OPS
from elman.formula.symbols import Node, value_of
from elman.formula.traversal import topological


def torch_expression(a: Node, name: Callable[[Node], str]) -> str:
    """One value as torch source, from the names of its operands."""
    op, operands = OPS[a.op], a.operands
    if op.has("commutative"):  # torch wants the tensor first
        operands = tuple(sorted(operands, key=lambda o: value_of(o) is not None))
    number = op.scalar and value_of(operands[op.has("commutative")]) is not None
    return (op.scalar if number else op.torch).format(*map(name, operands))


def c_statements(outputs: Mapping[str, Node], name: Callable[[str, str], str]) -> list[str]:
    """One C statement a value, operands first, then one for each output: ``outputs`` maps targets to nodes.

    ``name(kind, name)`` says how an input is written: ``lambda kind, name: f"{kind}_{name}"``. All values are
    of the type ``real``.
    """
    names: dict[Node, str] = {}
    lines: list[str] = []
    for a in topological(outputs.values()):
        if a.op == "input":
            names[a] = name(*a.args)
        elif a.op == "constant":
            names[a] = f"(real){a.args[0]!r}"
        elif not OPS[a.op].c:
            raise FormulaError(f"{a.op} cannot be printed here: it is not pointwise")
        else:
            names[a] = f"v{len(lines)}"
            value = OPS[a.op].c.format(*(names[o] for o in a.operands))
            lines.append(f"const real {names[a]} = {value};")
    return [*lines, *(f"{target} = {names[a]};" for target, a in outputs.items())]
