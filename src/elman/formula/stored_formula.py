"""A formula read from data that anybody may have written: checked, then evaluated value by value.

Nothing in the data is executed: it can name the operations of ``ops``, earlier values and declared inputs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from elman.errors import FormulaError, show_value
from elman.formula.formula import Formula, Gates, Matrices
from elman.formula.formula_data import FORMAT, formula_to_data
from elman.formula.operation import OPS
from elman.formula.stored_values import check_values
from elman.state import State

_KEYS = {"format", "name", "gates", "states", "parameters", "masks", "output", "matrices", "values", "new"}
_NAMES, _LONGEST = 64, 64  # of one kind, and characters of each

# torch wants a tensor first where an operator takes a number, too.
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
    "neg": operator.neg,
    "abs": operator.abs,
}


def read_formula(data: Any) -> Formula:
    """The formula that ``formula_to_data`` described; anything else is a FormulaError that says why."""
    if not isinstance(data, dict) or data.keys() != _KEYS:
        raise FormulaError(f"a stored formula is a table of {', '.join(sorted(_KEYS))}, not {show_value(data)}")
    if data["format"] != FORMAT or isinstance(data["format"], bool):
        shown = show_value(data["format"])
        raise FormulaError(f"the formula has format {shown}, this version of Elman reads {FORMAT}")
    names = {key: _read_names(key, data[key]) for key in ("gates", "states", "masks", "matrices")}
    name, output = _read_names("name", [data["name"]])[0], _read_names("output", [data["output"]])[0]
    parameters = _read_parameters(data["parameters"])
    declared = {"x": names["gates"], "s": names["states"], "p": tuple(parameters), "m": names["masks"]}
    declared["U"] = (*names["gates"], *names["states"], *names["matrices"])
    check_values(data["values"], data["new"], declared)
    if not names["gates"]:
        raise FormulaError("the stored formula has no gates")
    function = StoredFunction(name, data["values"], data["new"], declared)
    formula = Formula(function, parameters=parameters, output=output, **names)
    try:
        assert formula.trace
    except (ArithmeticError, TypeError, ValueError) as error:  # numbers that no trace of ours has: 0 ** -1
        raise FormulaError(f"the stored formula cannot be computed: {error}") from None
    return formula


def _read_names(key: str, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > _NAMES:
        raise FormulaError(f"{key} of the stored formula is no list of at most {_NAMES} names")
    for name in given:
        if not isinstance(name, str) or not name.isidentifier() or name[0] == "_" or len(name) > _LONGEST:
            raise FormulaError(f"{key} of the stored formula: {show_value(name)} is no name")
    if len(set(given)) < len(given):
        raise FormulaError(f"{key} of the stored formula: a name stands there twice")
    return tuple(given)


def _read_parameters(given: Any) -> dict[str, float]:
    if not isinstance(given, dict):
        raise FormulaError(f"parameters of the stored formula is {show_value(given)}, not a table")
    for name, first in zip(_read_names("parameters", [*given]), given.values(), strict=True):
        if type(first) not in (int, float) or not abs(first) < 1e38:
            raise FormulaError(f"parameters of the stored formula: {name} begins at {show_value(first)}")
    return {name: float(first) for name, first in given.items()}


class StoredFunction:
    """``f(x, U, s[, p][, m])``: computes the values of a stored formula, one after the other."""

    def __init__(
        self, name: str, values: Sequence[Any], new: Mapping[str, int], declared: Mapping[str, Sequence[str]]
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.values, self.new = values, new
        self.optional = [kind for kind in "pm" if declared[kind]]
        takes = ("x", "U", "s", *self.optional)
        self.__signature__ = Signature([Parameter(kind, Parameter.POSITIONAL_OR_KEYWORD) for kind in takes])

    def __call__(self, x: Gates, U: Matrices, s: State, *more: Gates) -> State:
        inputs = {"x": x, "s": s, **dict(zip(self.optional, more, strict=True))}
        made: list[Any] = []
        for op, *args in self.values:
            if op in inputs:
                made.append(getattr(inputs[op], args[0]))
            elif op == "number":
                made.append(float(args[0]))
            elif op == "U":
                made.append(getattr(U, args[0])(made[args[1]]))
            else:
                made.append((_OPERATORS.get(op) or OPS[op])(*(made[i] for i in args)))
        return State(**{name: made[i] for name, i in self.new.items()})

    def reduce_formula(self, formula: Formula) -> tuple[Callable[[Any], Formula], tuple[dict[str, Any]]]:
        """How pickle writes a formula that no module has."""
        return read_formula, (formula_to_data(formula),)
