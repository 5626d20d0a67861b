"""Pieces of torch source code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from elman.formula import Node
from elman.formula.linear import Form
from elman.formula.symbols import constant, value_of

ONE = constant(1)


def call(a: Node, name: Callable[[Node], str]) -> str:
    """One value in torch, from the names of its operands."""
    bent = slope(a)
    if bent is not None and value_of(bent[1]) is None:
        return f"torch.ops.aten.{bent[0]}({name(bent[1])}, {name(bent[2])})"
    if a.op == "sub" and value_of(a.args[0]) is not None:
        return f"{name(a.args[0])} - {name(a.args[1])}"
    if a.op in ("add", "mul"):  # torch wants the tensor first
        first, second = sorted(a.args, key=lambda o: value_of(o) is not None)
        return f"torch.{a.op}({name(first)}, {name(second)})"
    if a.op == "mean":
        return f"torch.mean({name(a.args[0])}, -1, keepdim=True)"
    if a.op == "relu":  # torch.relu has no out
        return f"torch.clamp_min({name(a.args[0])}, 0)"
    if a.op == "positive":
        return f"({name(a.args[0])} > 0).to({name(a.args[0])}.dtype)"
    return f"torch.{a.op}({', '.join(name(o) for o in a.operands)})"


def slope(a: Node) -> tuple[str, Node, Node] | None:
    """``u·y(1 - y)`` and ``u·(1 - y²)`` are one pass each in torch: the operation, u and y."""
    if a.op == "mul":
        for u, v in (a.args, a.args[::-1]):
            if v.op == "mul" and any(v is y * (1 - y) for y in v.args):
                y = next(y for y in v.args if v is y * (1 - y))
                return "sigmoid_backward", u, y
            if v.op == "sub" and v.args[0] is ONE and v.args[1].op == "mul":
                y, z = v.args[1].args
                if y is z:
                    return "tanh_backward", u, y
    return None


def into(target: str, expression: str) -> str:
    """The expression computed straight into ``target`` where torch has a way to say so."""
    if expression.startswith("torch.ops.aten."):
        function, arguments = expression.split("(", 1)
        return f"{function}.grad_input({arguments[:-1]}, grad_input={target})"
    if expression.startswith("torch."):
        return f"{expression[:-1]}, out={target})"
    return f"{target}.copy_({expression})"


def evaluate(
    outputs: Iterable[Node],
    names: dict[Node, str],
    prefix: str,
    targets: Mapping[Node, str] | None = None,
) -> list[str]:
    """Statements for the values that have no name yet; names them. ``targets`` say where some must lie."""
    lines = []
    for a in _missing(outputs, names):
        if targets and a in targets:
            names[a] = targets[a]
            lines.append(into(names[a], call(a, names.__getitem__)))
        else:
            names[a] = f"{prefix}{len(names)}"
            lines.append(f"{names[a]} = {call(a, names.__getitem__)}")
    return lines


def _missing(outputs: Iterable[Node], names: dict[Node, str]) -> list[Node]:
    """What must be computed for the outputs, operands first; constants are named by the way."""
    order: dict[Node, None] = {}

    def visit(a: Node) -> None:
        if a.op == "constant":
            names.setdefault(a, repr(a.args[0]))
        if a in names or a in order:
            return
        bent = slope(a)
        for operand in bent[1:] if bent is not None and value_of(bent[1]) is None else a.operands:
            visit(operand)
        order[a] = None

    for output in outputs:
        visit(output)
    return list(order)


def total(
    form: Form, gradient: Callable[[Node], str], factor: Callable[[Node], str], target: str
) -> list[str]:
    """Statements for ``target = Σ gradient ⊙ factor``."""
    lines: list[str] = []
    for g, k in sorted(form.items(), key=lambda term: term[1] is not ONE):
        value = gradient(g)
        if not lines:
            lines.append(f"{target} = {value if k is ONE else f'torch.mul({value}, {factor(k)})'}")
        elif k is ONE:
            lines.append(f"{target} = torch.add({target}, {value})")
        elif value_of(k) is not None:
            lines.append(f"{target} = torch.add({target}, {value}, alpha={factor(k)})")
        else:
            lines.append(f"{target} = torch.addcmul({target}, {value}, {factor(k)})")
    return lines


class Views:
    """The variables of a loop over steps: each is a slab cut into the rows of every step."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, slab: str) -> str:
        """The variable that runs over the steps of ``slab``."""
        return self._names.setdefault(slab, f"t{len(self._names)}")

    def loop(self, *, backwards: bool) -> str:
        order = "[::-1]" if backwards else ""
        cuts = [f"sizes{order}", *(f"{slab}.split(sizes){order}" for slab in self._names)]
        return f"for {', '.join(['n', *self._names.values()])} in zip({', '.join(cuts)}):"


def columns(slab: str, first: int, width: int) -> str:
    return f"{slab}[:, {first}:{first + width}]"


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]
