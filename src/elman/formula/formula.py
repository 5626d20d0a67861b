"""A cell's pointwise heart, said once: with tensors it runs, with symbols it is traced."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from elman.errors import FormulaError
from elman.formula.symbols import Node, symbol
from elman.formula.traversal import is_uniform, topological
from elman.state import State


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)  # where pickle looks
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

    @property
    def results(self) -> tuple[str, ...]:
        """What a matrix may be asked for by."""
        return *self.gates, *self.states, *self.matrices

    def __call__(self, x: Sequence[Any], U: Any, s: State, p: Sequence[Any], m: Sequence[Any]) -> State:
        """The new state; ``x``, ``p`` and ``m`` hold a value for each name."""
        optional = ((self.parameters, p), (self.masks, m))
        more = [Gates(**dict(zip(names, given, strict=True))) for names, given in optional if names]
        gates = Gates(**dict(zip(self.gates, x, strict=True)))
        new = self.function(gates, _OfGates(U, self.gates), s, *more)
        if not isinstance(new, State) or set(new.names) != set(self.states):
            got = ", ".join(new.names) if isinstance(new, State) else type(new).__name__
            raise FormulaError(f"{self.name} must return a State of {', '.join(self.states)}, not {got}")
        return State(**{name: getattr(new, name) for name in self.states})

    @cached_property
    def trace(self) -> Trace:
        asked = _Asked(self)
        new = self(
            [symbol("x", g) for g in self.gates],
            asked,
            Gates(**{name: symbol("s", name) for name in self.states}),
            [symbol("p", name) for name in self.parameters],
            [symbol("m", name) for name in self.masks],
        )
        for name, a in zip(new.names, new, strict=True):
            if not isinstance(a, Node) or not _inputs(a) - {"p"}:
                raise FormulaError(f"{self.name}: the new state {name!r} depends on no input")
        trace = Trace(asked.products(), dict(zip(new.names, new, strict=True)))
        for a in trace.nodes:
            if a.op == "softmax" and is_uniform(a.args[0]):
                raise FormulaError(f"{self.name}: softmax of what is the same at every unit")
        for kind, names in (("x", self.gates), ("p", self.parameters), ("m", self.masks)):
            for name in names:
                if symbol(kind, name) not in trace.uses:
                    raise FormulaError(f"{self.name} declares {name!r} but never uses {kind}.{name}")
        return trace

    def __deepcopy__(self, memo: Any) -> Formula:
        return self  # a value; its nodes are known by identity

    def __reduce__(self) -> str:
        """Pickled by the name it has in its module."""
        return self.function.__qualname__


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


def _inputs(a: Node) -> set[str]:
    """The kinds of inputs a value is made of."""
    return {i.args[0] for i in topological([a]) if i.op == "input"}


class _OfGates:
    """The ``U`` of a formula: asked for no matrix, it multiplies by those of all gates."""

    def __init__(self, matrices: Any, gates: tuple[str, ...]) -> None:
        self._matrices, self._gates = matrices, gates

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        return getattr(self._matrices, name)  # type: ignore[no-any-return]

    def __call__(self, operand: Any) -> Gates:
        return Gates(**{gate: getattr(self, gate)(operand) for gate in self._gates})


class _Asked:
    """The ``U`` of a trace: remembers which vector each matrix is asked to multiply."""

    def __init__(self, of: Formula) -> None:
        self._of = of
        self._operands: dict[str, Node] = {}

    def __getattr__(self, name: str) -> Callable[[Any], Node]:
        allowed = dict.fromkeys(self._of.results)
        if name not in allowed:
            raise FormulaError(f"{self._of.name} asks for U.{name}; it may ask for {', '.join(allowed)}")

        def multiply(operand: Any) -> Node:
            if not isinstance(operand, Node):
                raise FormulaError(f"U.{name} multiplies a vector, not a {type(operand).__name__}")
            if not _inputs(operand) - {"p"}:
                raise FormulaError(f"U.{name} multiplies what is the same at every step")
            if self._operands.setdefault(name, operand) is not operand:
                raise FormulaError(f"{self._of.name} multiplies by U.{name} twice; it may do so once")
            return symbol("r", name)

        return multiply

    def products(self) -> tuple[Product, ...]:
        """Matrices that multiply the same vector are one product; names in the order declared."""
        groups: dict[Node, list[str]] = {}
        for name, operand in self._operands.items():
            groups.setdefault(operand, []).append(name)
        declared = self._of.results
        return tuple(Product(v, tuple(sorted(n, key=declared.index))) for v, n in groups.items())
