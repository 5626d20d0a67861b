"""What is printed as JavaScript from ``formula``: the table of operations, and the steps of cells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from elman.formula.javascript import PrintedStep, javascript_template
from elman.formula.operation import OPS, Op
from elman.formula.symbols import VOCABULARY, Node, lift, node


def print_operations() -> str:
    """The module operations.js."""
    rows = "\n".join(f"  {json.dumps(name)}: {_row(op)}," for name, op in OPS.items())
    return (
        "// Printed from the table of operations.\n"
        'import { erf } from "./units.js";\n'
        f"export const OPERATIONS = {{\n{rows}\n}};\n"
        f"export const VOCABULARY = {json.dumps(VOCABULARY)};\n"
    )


def print_steps(steps: Mapping[str, PrintedStep]) -> str:
    """The module steps.js."""
    rows = "".join(
        f"  {json.dumps(name)}: {{ stored: {json.dumps(step.stored)}, run: {step.source} }},\n"
        for name, step in steps.items()
    )
    imports = 'import { erf, meanUnits, softmaxUnits } from "./units.js";\n'
    return f"// Printed from the formulas of the model.\n{imports}export const STEPS = {{\n{rows}}};\n"


def _row(op: Op) -> str:
    letters = "ab"[: _arity(op)]
    template = javascript_template(op)
    fields = {
        "arity": str(len(letters)),
        "compute": f"({', '.join(letters)}) => {template.format(*letters)}" if template else "null",
        "text": json.dumps(_infix(op) or op.text, ensure_ascii=False),
        "latex": json.dumps(_infix(op) or op.latex),
        "traits": json.dumps(op.traits.split()),
        "slopes": json.dumps(_slopes(op, letters)),
    }
    return "{ " + ", ".join(f"{key}: {value}" for key, value in fields.items()) + " }"


def _arity(op: Op) -> int:
    return 2 if "{1}" in op.torch or "{1}" in op.c else 1


def _infix(op: Op) -> str:
    """Sums, differences and products are written by whoever puts the brackets."""
    return {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "neg": "-{0}"}.get(op.name, "")


def _slopes(op: Op, letters: str) -> list[Any] | None:
    """Of each operand its gradient as a tree of operations, of numbers, and of the letters g, y, a and b."""
    if op.slope is None:
        return None
    found = op.slope(*(_Letter("input", ("letter", letter)) for letter in ("g", "y", *letters)))
    return [_tree(lift(slope)) for slope in (found if isinstance(found, tuple) else (found,))]


class _Letter(Node):
    """What stands for any value; a power by it is one, since it may stand for a number."""

    __slots__ = ()

    def __pow__(self, n: Any) -> Node:
        return node("pow", self, n)


def _tree(a: Node) -> Any:
    if a.op == "constant":
        return a.args[0]
    if a.op == "input":
        return a.args[1]
    return [a.op, *map(_tree, a.operands)]
