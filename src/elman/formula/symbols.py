"""The values a formula is made of: with tensors they are computed, with symbols they are written down.

A ``Node`` is one value of a traced formula. Equal expressions are the same object (hash-consed),
so common subexpressions are shared and two formulas can be compared with ``is``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any, NoReturn

from elman.errors import FormulaError

UNARY = ("sigmoid", "tanh", "relu", "exp", "rsqrt", "mean", "neg", "positive")
BINARY = ("add", "sub", "mul")
ALLOWED = "+, -, *, numbers, sigmoid, tanh, relu, exp, rsqrt and mean"

_number = count()


class Node:
    """An input, a constant, or an operation on other nodes. Make one with ``node``, never directly.

    ``args`` holds the operands; of an input its kind and name (``("x", "i")``), of a constant its value.
    """

    __slots__ = ("args", "number", "op")

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        self.op, self.args, self.number = op, args, next(_number)

    @property
    def operands(self) -> tuple[Node, ...]:
        return () if self.op in ("input", "constant") else self.args

    def __add__(self, other: Any) -> Node:
        return add(self, lift(other))

    def __radd__(self, other: Any) -> Node:
        return add(lift(other), self)

    def __sub__(self, other: Any) -> Node:
        return sub(self, lift(other))

    def __rsub__(self, other: Any) -> Node:
        return sub(lift(other), self)

    def __mul__(self, other: Any) -> Node:
        return mul(self, lift(other))

    def __rmul__(self, other: Any) -> Node:
        return mul(lift(other), self)

    def __neg__(self) -> Node:
        return neg(self)

    def __truediv__(self, other: Any) -> Node:
        if isinstance(other, int | float) and other != 0:
            return mul(self, constant(1 / other))
        return _refuse("division")

    def __bool__(self) -> bool:
        _refuse("a decision on a value (if, while, and, or, comparison)")

    def __lt__(self, other: Any) -> bool:
        _refuse("a comparison")

    __le__ = __gt__ = __ge__ = __lt__

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Node) else _refuse("a comparison")

    def __hash__(self) -> int:
        return self.number

    def __rtruediv__(self, other: Any) -> Node:
        _refuse("division by a value")

    def __pow__(self, other: Any) -> Node:
        _refuse("a power")

    __rpow__ = __pow__

    def __mod__(self, other: Any) -> Node:
        _refuse("a remainder")

    __rmod__ = __floordiv__ = __rfloordiv__ = __mod__

    def __matmul__(self, other: Any) -> Node:
        _refuse("a matrix product @ (write U.gate(vector))")

    __rmatmul__ = __matmul__

    def __abs__(self) -> Node:
        _refuse("abs")

    def __float__(self) -> float:
        _refuse("a number made of a value (float, int)")

    __int__ = __index__ = __float__

    def __getitem__(self, index: Any) -> Node:
        _refuse("a part of a value ([...])")

    def __iter__(self) -> Any:
        _refuse("the parts of a value")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("sigmoid", "tanh", "relu", "exp", "rsqrt"):
            return lambda: unary(name, self)
        return _refuse(f".{name}")

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Node:
        """``torch.tanh`` in a formula means ``tanh``; what has no symbol is refused by name."""
        name = getattr(function, "__name__", str(function))
        plain = len(args) == 1 and not any((kwargs or {}).values())  # inplace=False changes nothing
        if name in ("sigmoid", "tanh", "relu", "exp", "rsqrt") and plain:
            return unary(name, args[0])
        return _refuse(f"torch.{name}")

    def __deepcopy__(self, memo: Any) -> Node:
        return self  # known by identity

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"


def _refuse(what: str) -> NoReturn:
    raise FormulaError(f"a formula cannot use {what}; it may use {ALLOWED}")


@cache
def node(op: str, *args: Any) -> Node:
    return Node(op, args)


def symbol(kind: str, name: str) -> Node:
    return node("input", kind, name)


def constant(value: float) -> Node:
    return node("constant", float(value))


def lift(value: Any) -> Node:
    if isinstance(value, Node):
        return value
    if isinstance(value, int | float) and math.isfinite(value):
        return constant(value)
    return _refuse(f"a {type(value).__name__}")


def value_of(a: Node) -> float | None:
    """The number a node is, if it is one."""
    return a.args[0] if a.op == "constant" else None


def _commutative(op: str, a: Node, b: Node) -> Node:
    return node(op, a, b) if a.number <= b.number else node(op, b, a)


def add(a: Node, b: Node) -> Node:
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return constant(x + y)
    if x == 0:
        return b
    if y == 0:
        return a
    if a is b:
        return mul(constant(2), a)
    if b.op == "neg":
        return sub(a, b.args[0])
    if a.op == "neg":
        return sub(b, a.args[0])
    return _commutative("add", a, b)


def sub(a: Node, b: Node) -> Node:
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return constant(x - y)
    if a is b:
        return constant(0)
    if y == 0:
        return a
    if x == 0:
        return neg(b)
    if b.op == "neg":
        return add(a, b.args[0])
    return node("sub", a, b)


def mul(a: Node, b: Node) -> Node:
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return constant(x * y)
    if x is not None:
        a, b, x, y = b, a, y, x
    if y is not None and y in (0, 1, -1):
        return constant(0) if y == 0 else a if y == 1 else neg(a)
    if a.op == "neg":
        return neg(mul(a.args[0], b))
    if b.op == "neg":
        return neg(mul(a, b.args[0]))
    return _commutative("mul", a, b)


def neg(a: Node) -> Node:
    x = value_of(a)
    if x is not None:
        return constant(-x)
    if a.op == "sub":
        return sub(a.args[1], a.args[0])
    return a.args[0] if a.op == "neg" else node("neg", a)


NUMBERS: dict[str, Callable[[float], float]] = {
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)) if v >= 0 else math.exp(v) / (1 + math.exp(v)),
    "tanh": math.tanh,
    "relu": lambda v: max(v, 0.0),
    "exp": math.exp,
    "rsqrt": lambda v: 1 / math.sqrt(v),
    "mean": lambda v: v,
    "neg": lambda v: -v,
    "positive": lambda v: float(v > 0),
}


def unary(op: str, a: Any) -> Node:
    a = lift(a)
    x = value_of(a)
    return node(op, a) if x is None else constant(NUMBERS[op](x))
