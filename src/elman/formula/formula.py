"""A cell's pointwise heart, said once: with tensors it runs, with symbols it is traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol, runtime_checkable

from elman.errors import FormulaError
from elman.formula.equations import typeset
from elman.formula.formula_names import register_formula
from elman.formula.symbols import Node, symbol
from elman.formula.traversal import is_rowless, is_uniform, topological
from elman.state import State

Multiply = Callable[[str, Any], Any]  # a vector by the matrix of that name


class Gates(State):
    """Values by gate: ``x.i``, or all of them, ``i, f, z, o = x + U(s.h)``."""

    def __new__(cls, **parts: Any) -> Gates:
        return super().__new__(cls, **parts)  # type: ignore[return-value]

    def __getattr__(self, name: str) -> Any:
        if name in self.names:
            return self[self.names.index(name)]
        raise FormulaError(f"a formula asks for {name!r}; declared are {', '.join(self.names)}")

    def __add__(self, other: Any) -> Gates:
        if not isinstance(other, Gates) or other.names != self.names:
            raise FormulaError(f"only like gates can be added to {', '.join(self.names)}")
        return Gates(**{n: a + b for n, a, b in zip(self.names, self, other, strict=True)})

    def __mul__(self, other: Any) -> Gates:
        raise FormulaError(f"gates are multiplied one by one: {', '.join(self.names)}")

    __rmul__ = __mul__


@runtime_checkable
class Matrices(Protocol):
    """The recurrent matrices: ``U.i(v)`` is v times that of gate i, ``U(v)`` v times those of all gates."""

    def __getattr__(self, name: str) -> Callable[[Any], Any]: ...

    def __call__(self, operand: Any) -> Gates: ...


@dataclass(frozen=True)
class Product:
    """One matrix product of a step: ``operand`` times the matrices of ``names``, side by side."""

    operand: Node
    names: tuple[str, ...]


@dataclass(frozen=True)
class Trace:
    """What a formula computes, written down: the one form that derivatives, printers and executors read.

    Inputs are named by kind: ``x`` (from the input, a gate), ``r`` (a product's result), ``s`` (the old state),
    ``p`` (a per-unit parameter), ``m`` (a mask).
    """

    products: tuple[Product, ...]
    new: Mapping[str, Node]

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All values in the order of computing; a product's operand comes before its results."""
        # Products are in the order the formula asked for them: an operand is made of earlier results only.
        return tuple(topological([*(p.operand for p in self.products), *self.new.values()]))

    @cached_property
    def uses(self) -> dict[Node, list[Node]]:
        """Who reads a value."""
        readers: dict[Node, list[Node]] = {a: [] for a in self.nodes}
        for a in self.nodes:
            for operand in dict.fromkeys(a.operands):
                readers[operand].append(a)
        return readers


@dataclass(frozen=True, eq=False)
class Formula:
    """A pointwise function ``f(x, U, s[, p][, m]) -> State`` and the names it uses.

    ``x.i`` is the input's part of gate i, ``U.i(v)`` the vector v times the recurrent matrix of gate i
    (``U(v)``: of all gates), ``s.h`` the old state, ``p.i`` a per-unit parameter, ``m.d`` a mask.
    ``U.h(v)`` with a state's name projects v to the width of that state; ``matrices`` names further ones.
    """

    function: Callable[..., State]
    gates: tuple[str, ...]
    states: tuple[str, ...] = ("h",)
    parameters: Mapping[str, float] = field(default_factory=dict)
    masks: tuple[str, ...] = ()
    output: str = "h"
    matrices: tuple[str, ...] = ()
    handle: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)  # where pickle looks
        object.__setattr__(self, "handle", register_formula(self))
        for kind, names in (("gate", self.gates), ("state", self.states), ("mask", self.masks)):
            for i, n in enumerate(names):
                if n in names[:i]:
                    raise FormulaError(f"{self.name} declares the {kind} {n!r} twice")
                if hasattr(tuple, n) or n in ("names", "replace"):
                    raise FormulaError(f"{self.name}: {n!r} cannot be the name of a {kind}")
        if self.output not in self.states:
            raise FormulaError(f"the output {self.output!r} is not one of the states {self.states}")
        takes = tuple(inspect.signature(self.function).parameters)
        wants = ("x", "U", "s", *("p" if self.parameters else ""), *("m" if self.masks else ""))
        if takes != wants:
            raise FormulaError(
                f"{self.name} takes ({', '.join(takes)}); a formula of its kind takes ({', '.join(wants)})"
            )

    @property
    def name(self) -> str:
        return self.function.__name__

    def __repr__(self) -> str:
        return f"<formula {self.name}: gates {' '.join(self.gates)}, states {' '.join(self.states)}>"

    @property
    def results(self) -> tuple[str, ...]:
        """What a matrix may be asked for by."""
        return *self.gates, *self.states, *self.matrices

    def __call__(
        self, x: Sequence[Any], multiply: Multiply, s: State, p: Sequence[Any], m: Sequence[Any]
    ) -> State:
        """The new state; ``x``, ``p``, ``m`` hold a value for each name, ``U.i(v)`` is ``multiply("i", v)``."""
        optional = ((self.parameters, p), (self.masks, m))
        more = [Gates(**dict(zip(names, given, strict=True))) for names, given in optional if names]
        gates = Gates(**dict(zip(self.gates, x, strict=True)))
        new = self.function(gates, _Multiplier(multiply, self.gates), s, *more)
        if not isinstance(new, State) or set(new.names) != set(self.states):
            got = ", ".join(new.names) if isinstance(new, State) else type(new).__name__
            raise FormulaError(f"{self.name} must return a State of {', '.join(self.states)}, not {got}")
        return State(**{name: getattr(new, name) for name in self.states})

    @cached_property
    def trace(self) -> Trace:
        declared = {"x": self.gates, "s": self.states, "p": tuple(self.parameters), "m": self.masks}
        x, s, p, m = ([symbol(kind, name) for name in names] for kind, names in declared.items())
        operands: dict[str, Node] = {}  # which vector each matrix multiplies
        old = Gates(**dict(zip(self.states, s, strict=True)))
        new = self(x, partial(self._note_product, operands), old, p, m)
        for name, a in zip(new.names, new, strict=True):
            if not isinstance(a, Node) or is_rowless(a):
                raise FormulaError(f"{self.name}: the new state {name!r} depends on no input")
            if is_uniform(a):
                raise FormulaError(f"{self.name}: the new state {name!r} is one number for all units")
        trace = Trace(self._group_products(operands), dict(zip(new.names, new, strict=True)))
        for a in trace.nodes:
            if a.op == "softmax" and is_uniform(a.args[0]):
                raise FormulaError(f"{self.name}: softmax of what is the same at every unit")
        for a in (*x, *p, *m):
            if a not in trace.uses:
                kind, name = a.args
                raise FormulaError(f"{self.name} declares {name!r} but never uses {kind}.{name}")
        return trace

    def _note_product(self, operands: dict[str, Node], name: str, operand: Any) -> Node:
        """The result of a product, as a symbol; its operand is written down."""
        allowed = dict.fromkeys(self.results)
        if name not in allowed:
            raise FormulaError(f"{self.name} asks for U.{name}; it may ask for {', '.join(allowed)}")
        if not isinstance(operand, Node):
            raise FormulaError(f"U.{name} multiplies a vector, not a {type(operand).__name__}")
        if is_rowless(operand):
            raise FormulaError(f"U.{name} multiplies what is the same at every step")
        if is_uniform(operand):
            raise FormulaError(f"U.{name} multiplies one number for all units, not a vector")
        if operands.setdefault(name, operand) is not operand:
            raise FormulaError(f"{self.name} multiplies by U.{name} twice; it may do so once")
        return symbol("r", name)

    def _group_products(self, operands: Mapping[str, Node]) -> tuple[Product, ...]:
        """Matrices that multiply the same vector are one product; names in the order declared."""
        groups: dict[Node, list[str]] = {}
        for name, operand in operands.items():
            groups.setdefault(operand, []).append(name)
        return tuple(Product(v, tuple(sorted(n, key=self.results.index))) for v, n in groups.items())

    def _repr_latex_(self) -> str:
        return typeset(self)

    def __deepcopy__(self, memo: Any) -> Formula:
        return self  # a value; its nodes are known by identity

    def __reduce__(self) -> Any:
        """Pickled by the name it has in its module; one that was read from data, as data."""
        reduce = getattr(self.function, "reduce_formula", None)
        return reduce(self) if reduce else self.function.__qualname__


def formula(
    *,
    gates: str,
    states: str = "h",
    parameters: Mapping[str, float] | str = "",
    masks: str = "",
    output: str = "h",
    matrices: str = "",
) -> Callable[[Callable[..., State]], Formula]:
    """Decorator: names are separated by blanks; ``parameters`` may map a name to its first value."""
    first = dict.fromkeys(parameters.split(), 0.0) if isinstance(parameters, str) else parameters

    def make(function: Callable[..., State]) -> Formula:
        declared, kept, noise, further = (tuple(given.split()) for given in (gates, states, masks, matrices))
        return Formula(function, declared, kept, first, noise, output, further)

    return make


class _Multiplier:
    """The ``U`` of a formula: asked for no matrix, it multiplies by those of all gates."""

    def __init__(self, multiply: Multiply, gates: tuple[str, ...]) -> None:
        self._multiply, self._gates = multiply, gates

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        return partial(self._multiply, name)

    def __call__(self, operand: Any) -> Gates:
        return Gates(**{gate: self._multiply(gate, operand) for gate in self._gates})
