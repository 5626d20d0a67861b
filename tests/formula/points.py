"""A formula at random points: every input a free number, its products' results too."""

from typing import NamedTuple

import torch
from torch import Tensor

from elman.formula import Formula, State
from elman.formula.symbols import Node, symbol

ROWS, UNITS = 6, 5


class Point(NamedTuple):
    """Inputs, and what the formula and autograd make of them, each by symbol."""

    inputs: dict[Node, Tensor]  # x, r, s, p, m; gradients d of new states and q of operands
    new: dict[str, Tensor]
    operands: list[Tensor]
    gradients: dict[Node, Tensor]  # of x, r, s, p


def at_random(formula: Formula) -> Point:
    """The formula computed with tensors; L = Σ d·s' + Σ q·operand differentiated by autograd."""
    products = formula.trace.products
    kinds = {
        "x": formula.gates,
        "r": [name for product in products for name in product.names],
        "s": formula.states,
        "p": tuple(formula.parameters),
        "m": formula.masks,
        "d": formula.states,
        "q": [str(k) for k in range(len(products))],
    }
    inputs = {
        symbol(kind, name): torch.randn(ROWS, UNITS, dtype=torch.float64)
        for kind, names in kinds.items()
        for name in names
    }
    wanted = [a.requires_grad_() for node, a in inputs.items() if node.args[0] in "xrsp"]

    def given(kind: str) -> dict[str, Tensor]:
        return {name: inputs[symbol(kind, name)] for name in kinds[kind]}

    multiplied: dict[str, Tensor] = {}

    def multiply(name: str, operand: Tensor) -> Tensor:
        """The given result; remembers what was multiplied."""
        multiplied[name] = operand
        return inputs[symbol("r", name)]

    x, p, m = ([*given(kind).values()] for kind in "xpm")
    new = formula(x, multiply, State(**given("s")), p, m)
    operands = [multiplied[product.names[0]] for product in products]
    loss = sum((a * b).sum() for a, b in zip(new, given("d").values(), strict=True))
    loss = loss + sum((a * b).sum() for a, b in zip(operands, given("q").values(), strict=True))
    found = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
    nodes = [node for node in inputs if node.args[0] in "xrsp"]
    return Point(
        {node: a.detach() for node, a in inputs.items()},
        {name: a.detach() for name, a in zip(new.names, new, strict=True)},
        [a.detach() for a in operands],
        dict(zip(nodes, found, strict=True)),
    )
