"""The values a formula is made of: with tensors they are computed, with symbols they are written down.

A ``Node`` is one value of a traced formula. Equal expressions are the same object (hash-consed),
so common subexpressions are shared and two formulas can be compared with ``is``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from functools import cache, partial
from itertools import count
from typing import Any, NoReturn

from elman.errors import FormulaError
from elman.shapes import Tensor

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # every operation by name; ``ops`` fills these three
VOCABULARY: list[str] = []  # the functions that formulas call by name
TORCH_ARITY: dict[str, int] = {}  # how many operands those take that are the same in torch

_number = count()
_COMMUTATIVE = ("add", "mul", "maximum", "minimum")


def _refuse(what: str) -> NoReturn:
    words = f"+, -, *, /, **, abs, numbers, {', '.join(VOCABULARY[:-1])} and {VOCABULARY[-1]}"
    raise FormulaError(f"a formula cannot use {what}; it may use {words}")


def _refusal(what: str) -> Callable[..., Any]:
    """A method that refuses."""
    return lambda *_: _refuse(what)


def _operators(op: str) -> tuple[Callable[[Node, Any], Node], Callable[[Node, Any], Node]]:
    """An operator from the left and from the right."""
    return lambda a, b: operate(op, a, b), lambda a, b: operate(op, b, a)


class Node:
    """An input, a constant, or an operation on other nodes. Make one with ``node``, never directly.

    ``args`` holds the operands; of an input its kind and name (``("x", "i")``), of a constant its value.
    ``key`` is the same for the same expression in every process; the order of operands is not.
    """

    __slots__ = ("args", "key", "number", "op")
    key: str

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        self.op, self.args, self.number = op, args, next(_number)
        parts = [a.key if isinstance(a, Node) else repr(a) for a in args]
        ordered = sorted(parts) if op in _COMMUTATIVE else parts
        self.key = hashlib.blake2b("\0".join([op, *ordered]).encode(), digest_size=12).hexdigest()

    @property
    def operands(self) -> tuple[Node, ...]:
        return () if self.op in ("input", "constant") else self.args

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div")
    __pow__, __rpow__ = _operators("pow")

    def __neg__(self) -> Node:
        return neg(self)

    def __abs__(self) -> Node:
        return operate("abs", self)

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Node) else _refuse("a comparison")

    def __hash__(self) -> int:
        return self.number

    __bool__ = _refusal("a decision on a value (if, while, and, or, comparison)")
    __lt__ = __le__ = __gt__ = __ge__ = _refusal("a comparison")
    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = _refusal("a remainder")
    __matmul__ = __rmatmul__ = _refusal("a matrix product @ (write U.gate(vector))")
    __float__ = __int__ = __index__ = _refusal("a number made of a value (float, int)")
    __getitem__ = _refusal("a part of a value ([...])")
    __iter__ = _refusal("the parts of a value")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in TORCH_ARITY and hasattr(Tensor, name):
            return partial(operate, name, self)
        return _refuse(f".{name}")

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Node:
        """``torch.tanh`` in a formula means ``tanh``; what has no symbol is refused by name."""
        name = getattr(function, "__name__", str(function))
        plain = not any((kwargs or {}).values())  # inplace=False changes nothing
        if TORCH_ARITY.get(name) == len(args) and plain:
            return operate(name, *args)
        return _refuse(f"torch.{name}")

    def __deepcopy__(self, memo: Any) -> Node:
        return self  # known by identity

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"


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


def is_input(a: Node, kinds: str) -> bool:
    """Is it an input of one of these kinds, a letter each?"""
    return a.op == "input" and a.args[0] in kinds


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
    return a.args[0] if a.op == "neg" else node("neg", a)


def div(a: Node, b: Node) -> Node:
    y = value_of(b)
    if y == 0:
        _refuse("division by zero")
    if y is not None:
        return mul(a, constant(1 / y))
    return a if value_of(a) == 0 else node("div", a, b)


def power(a: Node, n: Node) -> Node:
    x, y = value_of(a), value_of(n)
    if y is None:
        _refuse("a power by a value")
    if x is not None:
        return constant(x**y)
    if y in (0, 1, 2):
        return constant(1) if y == 0 else a if y == 1 else mul(a, a)
    return node("pow", a, n)


SIMPLIFY: dict[str, Callable[..., Node]] = {f.__name__: f for f in (add, sub, mul, neg, div)} | {"pow": power}


def operate(op: str, *operands: Any) -> Node:
    """The operation on symbols and numbers; of numbers alone it is a number."""
    nodes = [lift(a) for a in operands]
    numbers = [a.args[0] for a in nodes if a.op == "constant"]
    if op in SIMPLIFY:
        return SIMPLIFY[op](*nodes)
    if op == "softmax" and numbers:
        _refuse("softmax of a number")
    if op in ("clamp_min", "clamp_max") and nodes[1].op != "constant":  # its derivative is of the first alone
        _refuse(f"{op} by a value (write maximum(a, b) or minimum(a, b))")
    if len(numbers) == len(nodes):
        return constant(FUNCTIONS[op](*numbers))
    return _commutative(op, *nodes) if op in _COMMUTATIVE else node(op, *nodes)
