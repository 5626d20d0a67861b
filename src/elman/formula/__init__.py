"""Formulas: symbols, traces, derivatives, and their printers."""

from elman.formula.derivative import Derivative, derivative
from elman.formula.equations import LATEX, UNICODE, equations, typeset, values
from elman.formula.formula import Formula, Gates, Matrices, Product, Trace, formula
from elman.formula.ops import *  # noqa: F403  (the vocabulary)
from elman.formula.symbols import VOCABULARY, Node
from elman.state import State

__all__ = [
    "LATEX",
    "UNICODE",
    "Derivative",
    "Formula",
    "Gates",
    "Matrices",
    "Node",
    "Product",
    "State",
    "Trace",
    "derivative",
    "equations",
    "formula",
    "typeset",
    "values",
    *VOCABULARY,
    "clamp",  # noqa: F405
]
