"""A formula as data: what is read computes what was written, and nothing else can be read."""

import json
import pickle
import subprocess
import sys
from copy import deepcopy

import pytest
import torch

from elman.cells import CELLS, FormulaCell, Formulaic
from elman.errors import FormulaError
from elman.formula import Formula, State, equations, formula, tanh
from elman.formula.formula_data import digest_formula, formula_to_data
from elman.formula.stored_formula import read_formula
from elman.scan import scan
from tests.zoo import FORMULAS

NAMED = {name: cell.formula for name, make in FORMULAS.items() if isinstance(cell := make(3, 4), Formulaic)}


def stored(one: Formula) -> dict:
    """The formula as a file holds it."""
    return json.loads(json.dumps(formula_to_data(one)))


@pytest.mark.parametrize("name", NAMED)
def test_what_is_read_has_the_trace_and_the_names_of_what_was_written(name):
    one = NAMED[name]
    read = read_formula(stored(one))
    assert read.trace == one.trace
    assert equations(read) == equations(one)
    assert digest_formula(read) == digest_formula(one)
    for part in ("name", "gates", "states", "parameters", "masks", "output", "matrices"):
        assert getattr(read, part) == getattr(one, part)


@formula(gates="a b", matrices="k", parameters={"g": 0.5})
def twisted(x, U, s, p):
    """Products that are asked for in another order than they are used in."""
    first, second = U.b(s.h), U.a(tanh(s.h))
    return State(h=tanh(x.a + second * U.k(first * p.g)) + x.b - 1 / (2 + first * first))


@pytest.mark.parametrize("executor", ["loop", "codegen"])
def test_a_cell_of_a_formula_that_was_read_gives_the_same_outputs_and_gradients(executor):
    one, two = FormulaCell(twisted, 3, 4), FormulaCell(read_formula(stored(twisted)), 3, 4)
    two.load_state_dict(one.state_dict())
    xs = torch.randn(2, 5, 3)
    outputs = [scan(cell, xs, executor=executor)[0] for cell in (one, two)]
    torch.testing.assert_close(outputs[1], outputs[0], rtol=0, atol=1e-6)
    both = zip(outputs, (one, two), strict=True)
    gradients = [torch.autograd.grad(ys.sum(), [*cell.parameters()]) for ys, cell in both]
    torch.testing.assert_close(gradients[1], gradients[0], rtol=0, atol=1e-5)


def test_a_formula_that_was_read_can_be_pickled():
    read = read_formula(stored(twisted))
    assert pickle.loads(pickle.dumps(read)).trace == twisted.trace


def test_the_digest_is_of_what_is_computed():
    data = stored(twisted)
    renamed = read_formula({**data, "name": "other", "parameters": {"g": 7.0}})
    changed = deepcopy(data)
    number = next(line for line in changed["values"] if line[0] == "number")
    number[1] += 1
    assert digest_formula(renamed) == digest_formula(twisted) != digest_formula(read_formula(changed))


def test_the_digest_does_not_depend_on_what_was_traced_before():
    cells = [cell(3, 48) for cell in CELLS.values()]
    here = [digest_formula(cell.formula) for cell in cells if isinstance(cell, Formulaic)]
    code = (
        "from elman.formula import formula, State, tanh\n"
        "formula(gates='u v w x y z h k i f o n r')(lambda x, U, s: State(h=sum(reversed([U.h(s.h), *x]))))\n"
        "from elman.cells import CELLS, Formulaic\n"
        "from elman.formula.formula_data import digest_formula\n"
        "cells = [cell(3, 48) for cell in reversed(CELLS.values())]\n"
        "print(*reversed([digest_formula(cell.formula) for cell in cells if isinstance(cell, Formulaic)]))"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert there.split() == here


DATA = stored(twisted)
LAST = len(DATA["values"]) - 1
CHAIN = [["x", "a"], *(["tanh", i] for i in range(150))]
DOUBLED = [["x", "a"], *(["mul", i, i] for i in range(40))]
TAMPERED = {
    "no table": ([], "is a table of format"),
    "a further key": ({**DATA, "code": "import os"}, "is a table of format"),
    "a later format": ({**DATA, "format": 2}, "this version of Elman reads 1"),
    "a name that is none": ({**DATA, "name": "a.b"}, "'a.b' is no name"),
    "a name of Python's own": ({**DATA, "gates": ["a", "b", "__class__"]}, "'__class__' is no name"),
    "a method of tuples": ({**DATA, "gates": ["a", "b", "index"]}, "cannot be the name of a gate"),
    "too many names": ({**DATA, "matrices": [f"k{i}" for i in range(65)]}, "at most 64 names"),
    "an output that is no state": ({**DATA, "output": "c"}, "not one of the states"),
    "a first value that is no number": ({**DATA, "parameters": {"g": float("nan")}}, "begins at nan"),
    "no gates": ({**DATA, "gates": []}, "names nothing that is declared"),
    "an unknown operation": ({**DATA, "values": [["eval", 0], *DATA["values"][1:]]}, "no operation 'eval'"),
    "one of derivatives": ({**DATA, "values": [["sum", 0], *DATA["values"][1:]]}, "no operation 'sum'"),
    "another arity": ({**DATA, "values": [*DATA["values"][:-1], ["tanh", 0, 1]]}, "tanh takes 1 values, not 2"),
    "a value made of itself": ({**DATA, "values": [*DATA["values"][:-1], ["tanh", LAST]]}, "no earlier value"),
    "a value before the first": ({**DATA, "values": [*DATA["values"][:-1], ["tanh", -1]]}, "no earlier value"),
    "true for a number": ({**DATA, "values": [*DATA["values"][:-1], ["tanh", True]]}, "no earlier value"),
    "a value that nothing reads": ({**DATA, "new": {"h": 0}}, "nothing reads it"),
    "a state that is not new": ({**DATA, "new": {}}, "a value for each state: h"),
    "an infinite number": ({**DATA, "values": [["number", float("inf")]]}, "is no number"),
    "no values": ({**DATA, "values": []}, "between 1 and 2000 values"),
    "too many values": ({**DATA, "values": [["x", "a"]] * 2001}, "between 1 and 2000 values"),
    "too deep": ({**DATA, "values": CHAIN, "new": {"h": 150}}, "more than 100 steps"),
    "too large": ({**DATA, "values": DOUBLED, "new": {"h": 40}}, "more than 100 steps or 10,000 parts"),
    "numbers alone": ({**DATA, "values": [["number", 0.0], ["exp", 0]]}, "an operation on numbers alone"),
    "an input that is not used": ({**DATA, "values": [["x", "a"], ["tanh", 0]], "new": {"h": 1}}, "never uses"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_formula_that_was_tampered_with_is_refused_in_one_sentence(how):
    data, why = TAMPERED[how]
    with pytest.raises(FormulaError, match=why):
        read_formula(data)


def test_a_power_that_no_number_has_is_refused():
    zero = [["x", "a"], ["sub", 0, 0], ["number", -1.0], ["pow", 1, 2], ["add", 0, 3]]
    data = {**DATA, "gates": ["a"], "matrices": [], "parameters": {}, "values": zero, "new": {"h": 4}}
    with pytest.raises(FormulaError, match="cannot be computed"):
        read_formula(data)
