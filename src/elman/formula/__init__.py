"""Formulas: symbols, traces, derivatives, and their printers."""

from elman.formula.derivative import Derivative, derivative
from elman.formula.equations import LATEX, UNICODE, equations, values
from elman.formula.formula import Formula, Gates, Matrices, Product, Trace, formula
from elman.formula.functions import exp, mean, relu, rsqrt, sigmoid, tanh
from elman.formula.symbols import Node
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
    "exp",
    "formula",
    "mean",
    "relu",
    "rsqrt",
    "sigmoid",
    "tanh",
    "values",
]
