"""The values of a stored formula, checked before anything is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from elman.errors import FormulaError, show_value
from elman.formula.operation import OPS

MOST = 2000  # values
DEEPEST = 100  # values made of each other: what walks over them calls itself
LARGEST = 10_000  # values of one equation, where nothing in it has a letter of its own


def check_values(values: Any, new: Any, declared: Mapping[str, Sequence[str]]) -> None:
    """Refuse values that are not made of declared names, known operations and earlier values.

    ``declared`` has the names of each kind of input, and in ``U`` those of the matrices.
    """
    if not isinstance(values, list) or not 0 < len(values) <= MOST:
        raise FormulaError(f"a stored formula has between 1 and {MOST} values")
    used: set[int] = set()
    depths: list[int] = []
    sizes: list[int] = []
    for number, line in enumerate(values):
        operands = _check_line(number, line, declared)
        used.update(operands)
        depths.append(1 + max((depths[i] for i in operands), default=0))
        sizes.append(1 + sum(sizes[i] for i in operands))
        if depths[-1] > DEEPEST or sizes[-1] > LARGEST:
            raise _refuse(number, f"it is made of more than {DEEPEST} steps or {LARGEST:,} parts")
        if operands and line[0] != "U" and all(values[i][0] == "number" for i in operands):
            raise _refuse(number, "it is an operation on numbers alone")
    used.update(_check_new(new, len(values), declared["s"]))
    unused = set(range(len(values))) - used
    if unused:
        raise _refuse(min(unused), "nothing reads it")


def _check_line(number: int, line: Any, declared: Mapping[str, Sequence[str]]) -> list[int]:
    """The numbers of the values that a value is made of."""
    if not isinstance(line, list) or not line or not isinstance(line[0], str):
        raise _refuse(number, f"{show_value(line)} is no list that begins with a word")
    kind, *args = line
    if kind == "number":
        if len(args) != 1 or type(args[0]) not in (int, float) or not abs(args[0]) < 1e38:
            raise _refuse(number, f"{show_value(args)} is no number")
        return []
    if kind in declared:
        if len(args) != 1 + (kind == "U") or args[0] not in declared[kind]:
            raise _refuse(number, f"{show_value(line)} names nothing that is declared")
        return _check_operands(number, args[1:])
    if kind not in OPS or OPS[kind].slope is None:
        raise _refuse(number, f"there is no operation {show_value(kind)}")
    if len(args) != OPS[kind].arity:
        raise _refuse(number, f"{kind} takes {OPS[kind].arity} values, not {len(args)}")
    return _check_operands(number, args)


def _check_operands(number: int, given: Sequence[Any]) -> list[int]:
    for i in given:
        if type(i) is not int or not 0 <= i < number:
            raise _refuse(number, f"{show_value(i)} is no earlier value")
    return [*given]


def _check_new(new: Any, count: int, states: Sequence[str]) -> list[int]:
    if not isinstance(new, dict) or [*new] != [*states]:
        raise FormulaError(f"new of the stored formula has a value for each state: {', '.join(states)}")
    return _check_operands(count, [*new.values()])


def _refuse(number: int, why: str) -> FormulaError:
    return FormulaError(f"value {number} of the stored formula: {why}")
