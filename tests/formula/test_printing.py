"""Printed statements, executed, compute the formula."""

import pytest
import torch
from hypothesis import given

from elman.errors import FormulaError
from elman.formula import derivative, mean, tanh
from elman.formula.printing import TORCH, C, statements
from elman.formula.symbols import constant, symbol
from tests.formula.expressions import INPUTS, compute, expressions, point
from tests.formula.points import at_random
from tests.zoo import FORMULAS, cell_of

x = symbol("x", "a")


def underscored(kind: str, name: str) -> str:
    return f"{kind}_{name}"


def execute(outputs, inputs):
    """The outputs by name, of torch statements run in a scope of nothing but torch and the inputs."""
    scope = {"torch": torch} | {underscored(*node.args): a for node, a in inputs.items()}
    exec("\n".join(statements(outputs, underscored, TORCH)), scope)
    return {target: scope[target] for target in outputs}


@given(expressions)
def test_torch_statements_compute_any_expression(expression):
    tensors = point(4)
    ran = execute({"y": compute(expression, INPUTS)}, {INPUTS[n]: t for n, t in tensors.items()})
    torch.testing.assert_close(ran["y"], compute(expression, tensors))


@pytest.mark.parametrize("name", FORMULAS)
def test_torch_statements_compute_the_formula_and_its_derivative(name):
    formula = cell_of(name).formula
    some, found = at_random(formula), derivative(formula.trace)
    ran = execute({f"new_{n}": a for n, a in formula.trace.new.items()}, some.inputs)
    for state, expected in some.new.items():
        torch.testing.assert_close(ran[f"new_{state}"], expected, rtol=1e-12, atol=1e-12)
    wanted = {symbol(k, n): a for k in "xrsp" for n, a in getattr(found, k).items()}
    ran = execute({f"g_{underscored(*node.args)}": a for node, a in wanted.items()}, some.inputs)
    for node in wanted:
        got = torch.as_tensor(ran[f"g_{underscored(*node.args)}"]).double()
        expected = some.gradients[node]
        torch.testing.assert_close(got.expand_as(expected), expected, rtol=1e-10, atol=1e-10)


def test_a_value_is_computed_once():
    y = tanh(x)
    lines = statements({"a": y * y, "b": y + 1}, underscored, TORCH)
    assert sum("tanh" in line for line in lines) == 1
    assert lines[-2:] == ["a = v1", "b = v2"]


def test_an_input_or_a_number_can_be_an_output_itself():
    assert statements({"a": x, "b": constant(0)}, underscored, TORCH) == ["a = x_a", "b = 0.0"]
    assert statements({"a": x, "b": constant(0)}, underscored, C) == ["a = x_a;", "b = (real)0.0;"]


def test_c_statements_are_pointwise():
    with pytest.raises(FormulaError, match=r"^mean cannot be printed here: it is not pointwise$"):
        statements({"y": mean(x)}, underscored, C)
