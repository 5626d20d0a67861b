"""Random expressions that can be computed with tensors and written down with symbols, and values of nodes."""

from collections.abc import Mapping
from typing import Any

import torch
from hypothesis import strategies as st

from elman.formula import (
    Node,
    Trace,
    clamp,
    exp,
    gelu,
    log,
    log_sigmoid,
    maximum,
    minimum,
    relu,
    rsqrt,
    sigmoid,
    silu,
    softplus,
    sqrt,
    tanh,
)
from elman.formula.operation import OPS
from elman.formula.symbols import symbol
from elman.formula.traversal import topological

INPUTS = {"a": symbol("x", "a"), "b": symbol("x", "b"), "h": symbol("s", "h"), "p": symbol("p", "p")}
FUNCTIONS = {
    "sigmoid": sigmoid,
    "tanh": tanh,
    "relu": relu,
    "exp": lambda v: exp(tanh(v)),  # of something bounded, so that towers of them stay numbers
    "rsqrt": lambda v: rsqrt(v * v + 1),
    "log": lambda v: log(v * v + 1),
    "sqrt": lambda v: sqrt(v * v + 1),
    "softplus": softplus,
    "log σ": log_sigmoid,
    "silu": silu,
    "gelu": gelu,
    "abs": abs,
    "cube": lambda v: tanh(v) ** 3,
    "root": lambda v: (v * v + 1) ** 0.25,
    "clamp": lambda v: clamp(v, -0.5, 0.75),
    "neg": lambda v: -v,
    "half": lambda v: v / 2,
    "rest": lambda v: 1 - v,
}
OPERATIONS = {
    "+": lambda v, w: v + w,
    "-": lambda v, w: v - w,
    "*": lambda v, w: v * w,
    "/": lambda v, w: v / (w * w + 1),
    "max": maximum,
    "min": minimum,
}

_leaves = st.sampled_from([*INPUTS, *INPUTS, 0.0, 1.0, -1.0, 0.5, 2])
expressions = st.recursive(
    _leaves,
    lambda some: st.one_of(
        st.tuples(st.sampled_from([*FUNCTIONS]), some), st.tuples(st.sampled_from([*OPERATIONS]), some, some)
    ),
    max_leaves=12,
).map(lambda e: ("+", ("tanh", e), "h"))  # never a mere number


def compute(expression: Any, inputs: Mapping[str, Any]) -> Any:
    """The expression of whatever the inputs are: tensors or symbols."""
    if isinstance(expression, str):
        return inputs[expression]
    if not isinstance(expression, tuple):
        return expression
    name, *operands = expression
    values = [compute(operand, inputs) for operand in operands]
    if name in OPERATIONS:
        return OPERATIONS[name](*values)
    (value,) = values
    number = isinstance(value, int | float)  # formulas have no functions of numbers
    return FUNCTIONS[name](value if not number else inputs["h"] * 0 + value)


def traced(expression: Any) -> Trace:
    return Trace((), {"h": compute(expression, INPUTS)})


def point(*shape: int) -> dict[str, torch.Tensor]:
    """Leaves of autograd for every input."""
    return {n: torch.randn(shape, dtype=torch.float64, requires_grad=True) for n in INPUTS}


def value(a: Node, inputs: Mapping[Node, torch.Tensor]) -> torch.Tensor:
    """What a node is worth, computed one operation after the other."""
    known = dict(inputs)
    for b in topological([a]):
        if b.op == "constant":
            known[b] = torch.tensor(b.args[0], dtype=torch.float64)
        elif b.operands:
            known[b] = OPS[b.op].tensor(*(known[operand] for operand in b.operands))
    return known[a]
