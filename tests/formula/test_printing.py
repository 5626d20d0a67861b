"""Printed code, executed, computes the formula."""

import pytest
import torch
from hypothesis import given

from elman.errors import FormulaError
from elman.formula import derivative, mean, softmax, tanh
from elman.formula.printing import c_statements, torch_expression
from elman.formula.symbols import constant, symbol
from elman.formula.traversal import topological
from tests.formula.expressions import INPUTS, compute, expressions, point
from tests.formula.points import at_random
from tests.zoo import FORMULAS, cell_of

x = symbol("x", "a")


def underscored(kind: str, name: str) -> str:
    return f"{kind}_{name}"


def execute(output, inputs):
    """One node, run as printed torch in a scope of nothing but torch and the inputs."""
    names = {node: underscored(*node.args) for node in inputs}
    scope = {"torch": torch} | {names[node]: a for node, a in inputs.items()}
    for a in topological([output]):
        if a.op == "constant":
            names[a] = repr(a.args[0])
        elif a not in names:
            names[a] = f"v{len(names)}"
            exec(f"{names[a]} = {torch_expression(a, names.__getitem__)}", scope)
    return torch.as_tensor(eval(names[output], scope)).double()


@given(expressions)
def test_torch_expressions_compute_any_expression(expression):
    tensors = point(4)
    ran = execute(compute(expression, INPUTS), {INPUTS[n]: t for n, t in tensors.items()})
    torch.testing.assert_close(ran, compute(expression, tensors))


@pytest.mark.parametrize("name", FORMULAS)
def test_torch_expressions_compute_the_formula_and_its_derivative(name):
    formula = cell_of(name).formula
    some, found = at_random(formula), derivative(formula.trace)
    for state, expected in some.new.items():
        ran = execute(formula.trace.new[state], some.inputs)
        torch.testing.assert_close(ran.expand_as(expected), expected, rtol=1e-12, atol=1e-12)
    for node, a in {symbol(k, n): a for k in "xrsp" for n, a in getattr(found, k).items()}.items():
        expected = some.gradients[node]
        ran = execute(a, some.inputs).expand_as(expected)
        torch.testing.assert_close(ran, expected, rtol=1e-10, atol=1e-10)


def test_a_value_is_computed_once():
    y = tanh(x)
    lines = c_statements({"a": y * y, "b": y + 1}, underscored)
    assert sum("tanh" in line for line in lines) == 1
    assert lines[-2:] == ["a = v1;", "b = v2;"]


def test_an_input_or_a_number_can_be_an_output_itself():
    assert c_statements({"a": x, "b": constant(0)}, underscored) == ["a = x_a;", "b = (real)0.0;"]


@pytest.mark.parametrize("over_units", [mean, softmax], ids=["mean", "softmax"])
def test_c_statements_are_pointwise(over_units):
    with pytest.raises(FormulaError, match=r"^\w+ cannot be printed here: it is not pointwise$"):
        c_statements({"y": over_units(x)}, underscored)
