"""Formulas by name: how a compiled or exported program says which formula it runs."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from elman.errors import FormulaError
from elman.formula.formula_data import digest_formula

if TYPE_CHECKING:
    from elman.formula.formula import Formula

_number = count()
_live: WeakValueDictionary[str, Formula] = WeakValueDictionary()
_named: dict[str, Formula] = {}


def register_formula(formula: Formula) -> str:
    """A handle of the formula in this process: compilers read strings, and leave objects alone."""
    handle = f"{formula.function.__module__}.{formula.name}#{next(_number)}"
    _live[handle] = formula
    return handle


def name_formula(handle: str) -> str:
    """The name by which another process finds the same formula: where it was written, and a digest of it."""
    formula = _live[handle]
    name = f"{handle.rpartition('#')[0]}@{digest_formula(formula)}"
    _named.setdefault(name, formula)
    return name


def find_formula(name: str) -> Formula:
    """The formula of that name, here; a formula that was changed since has another one."""
    if name not in _named:
        for handle in [*_live]:
            if handle.startswith(f"{name.rpartition('@')[0]}#"):
                name_formula(handle)
    if name not in _named:
        raise FormulaError(
            f"this program runs the formula {name}, which is not known here: "
            "import what defines it, and make its cell if it is made of another's"
        )
    return _named[name]
