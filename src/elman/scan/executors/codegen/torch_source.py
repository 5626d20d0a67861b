"""Pieces of torch source code; products are by whole matrices, or by the blocks of heads in one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from elman.formula import Node
from elman.formula.derivative import Form
from elman.formula.printing import torch_expression
from elman.formula.symbols import constant, symbol, value_of
from elman.scan.executors.codegen.plan import Plan

ONE = constant(1)


def call(a: Node, name: Callable[[Node], str]) -> str:
    """One value in torch, from the names of its operands."""
    if (bent := slope(a)) is not None:
        return f"torch.ops.aten.{bent[0]}({name(bent[1])}, {name(bent[2])})"
    return torch_expression(a, name)


def slope(a: Node) -> tuple[str, Node, Node] | None:
    """``u·y(1 - y)`` and ``u·(1 - y²)`` are one pass each in torch: the operation, u and y."""
    if a.op == "mul" and all(value_of(o) is None for o in a.args):
        for u, v in (a.args, a.args[::-1]):
            for y in v.args if v.op == "mul" else ():
                if v is y * (1 - y):
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
    outputs: Iterable[Node], names: dict[Node, str], prefix: str, targets: Mapping[Node, str] | None = None
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
        for operand in a.operands if bent is None else bent[1:]:
            visit(operand)
        order[a] = None

    for output in outputs:
        visit(output)
    return list(order)


def total(form: Form, gradient: Callable[[Node], str], factor: Callable[[Node], str], target: str) -> list[str]:
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
    """The variables of a loop over steps: each is a buffer cut into the rows of every step."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __call__(self, buffer: str) -> str:
        """The variable that runs over the steps of ``buffer``."""
        return self._names.setdefault(buffer, f"t{len(self._names)}")

    def loop(self, *, backwards: bool) -> str:
        order = "[::-1]" if backwards else ""
        cuts = [f"sizes{order}", *(f"{buffer}.split(sizes){order}" for buffer in self._names)]
        return f"for {', '.join(['n', *self._names.values()])} in zip({', '.join(cuts)}):"


class ProductSource:
    """Expressions for product k of a plan; ``u{k}`` is its matrix turned."""

    def __init__(self, plan: Plan) -> None:
        self.heads = plan.heads
        self.results = [len(product.names) for product in plan.formula.trace.products]

    def transpose(self, k: int) -> str:
        return f"U[{k}].t()" if self.heads == 1 else f"U[{k}].transpose(1, 2)"

    def multiply(self, k: int, operand: str) -> str:
        if self.heads == 1:
            return f"torch.mm({operand}, u{k})"
        parts = f"torch.bmm(split_heads({operand}, {self.heads}), u{k})"
        return f"join_heads({parts}, {self.results[k]})"

    def add(self, k: int, target: str, operand: str) -> str:
        """A statement: the product is added to ``target``."""
        if self.heads == 1:
            return f"{target}.addmm_({operand}, u{k})"
        return f"{target}.add_({self.multiply(k, operand)})"

    def operand_gradient(self, k: int, gradients: str, base: str | None = None) -> str:
        """The gradients of the results times the matrix; added to ``base``."""
        if self.heads == 1:
            product = f"{gradients}, U[{k}]"
            return f"torch.addmm({base}, {product})" if base else f"torch.mm({product})"
        product = f"join_heads(torch.bmm({self._split(k, gradients)}, U[{k}]))"
        return f"{base} + {product}" if base else product

    def matrix_gradient(self, k: int, gradients: str, operand: str) -> str:
        if self.heads == 1:
            return f"{gradients}.t() @ {operand}"
        turned = f"{self._split(k, gradients)}.transpose(1, 2)"
        return f"torch.bmm({turned}, split_heads({operand}, {self.heads}))"

    def _split(self, k: int, gradients: str) -> str:
        return f"split_heads({gradients}, {self.heads}, {self.results[k]})"


def input_buffers(plan: Plan) -> dict[Node, str]:
    """How x, p and m of all steps are written."""
    gates = plan.columns(plan.formula.gates)
    found = {symbol("x", gate): columns("X", *place) for gate, place in gates.items()}
    for kind, names in (("p", plan.formula.parameters), ("m", plan.formula.masks)):
        found |= {symbol(kind, name): f"{kind}[{j}]" for j, name in enumerate(names)}
    return found


def columns(buffer: str, first: int, width: int) -> str:
    return f"{buffer}[:, {first}:{first + width}]"


def indent(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]
