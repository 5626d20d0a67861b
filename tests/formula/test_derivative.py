"""The derived derivative is the derivative: by finite differences, by autograd, for any expression and cell."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.formula import Trace, derivative, exp, mean, relu, rsqrt, sigmoid, tanh
from elman.formula.derivative import linear
from elman.formula.operation import OPS
from elman.formula.symbols import constant, symbol
from tests.formula.expressions import INPUTS, compute, expressions, point, traced, value
from tests.formula.points import at_random
from tests.zoo import FORMULAS, cell_of

x, d = symbol("x", "a"), symbol("d", "h")

# The formula's operation, and what it is in plain Python.
OPERATIONS = {
    "σ": (sigmoid, lambda v: 1 / (1 + math.exp(-v))),
    "tanh": (tanh, math.tanh),
    "ReLU": (relu, lambda v: max(v, 0)),
    "exp": (exp, math.exp),
    "1/√": (lambda a: rsqrt(a * a + 0.1), lambda v: (v * v + 0.1) ** -0.5),
    "-": (lambda a: -a, lambda v: -v),
    "sum": (lambda a: a + 3, lambda v: v + 3),
    "difference": (lambda a: 3 - a, lambda v: 3 - v),
    "product": (lambda a: a * (a - 2), lambda v: v * (v - 2)),
    "quotient": (lambda a: a / 7, lambda v: v / 7),
}


@pytest.mark.parametrize("name", OPERATIONS)
@given(at=st.floats(-3, 3).filter(lambda v: abs(v) > 1e-3), upstream=st.floats(-2, 2))
def test_every_operation_has_the_slope_of_finite_differences(name, at, upstream):
    symbolic, numeric = OPERATIONS[name]
    slope = derivative(Trace((), {"h": symbolic(x)})).x["a"]
    step = 1e-5
    expected = upstream * (numeric(at + step) - numeric(at - step)) / (2 * step)
    inputs = {x: torch.tensor(at, dtype=torch.float64), d: torch.tensor(upstream, dtype=torch.float64)}
    assert float(value(slope, inputs)) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_the_mean_over_units_hands_its_gradient_to_all_of_them():
    a = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    g = torch.randn(3, 4, dtype=torch.float64)
    (expected,) = torch.autograd.grad((mean(a * a) * g).sum(), a)
    slope = derivative(Trace((), {"h": mean(x * x)})).x["a"]
    torch.testing.assert_close(value(slope, {x: a.detach(), d: g}), expected)


@given(expressions, st.integers(0, 9))
def test_the_derivative_of_any_expression_is_that_of_autograd(expression, seed):
    torch.manual_seed(seed)
    tensors, upstream = point(5), torch.randn(5, dtype=torch.float64)
    compute(expression, tensors).backward(upstream)
    found = derivative(traced(expression))
    inputs = {INPUTS[n]: t.detach() for n, t in tensors.items()} | {d: upstream}
    for name, node in {**found.x, **found.s, **found.p}.items():
        expected = tensors[name].grad
        got = value(node, inputs).expand_as(upstream)
        torch.testing.assert_close(got, torch.zeros(5).double() if expected is None else expected)


@given(expressions, st.integers(0, 9))
def test_linear_forms_are_the_derivative(expression, seed):
    torch.manual_seed(seed)
    found = derivative(traced(expression))
    inputs = {INPUTS[n]: t.detach() for n, t in point(5).items()} | {d: torch.randn(5).double()}
    assert_forms_agree(found, inputs)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_derivative_of_a_cell_is_that_of_autograd(name):
    formula = cell_of(name).formula
    some, found = at_random(formula), derivative(formula.trace)
    assert set(found.x) == set(formula.gates)
    assert set(found.p) == set(formula.parameters)
    for kind in ("x", "r", "s", "p"):
        for gate, node in getattr(found, kind).items():
            expected = some.gradients[symbol(kind, gate)]
            torch.testing.assert_close(
                value(node, some.inputs).expand_as(expected), expected, rtol=1e-10, atol=1e-10
            )


@pytest.mark.parametrize("name", FORMULAS)
def test_linear_forms_of_a_cell_are_its_derivative(name):
    formula = cell_of(name).formula
    assert_forms_agree(derivative(formula.trace), at_random(formula).inputs)


def assert_forms_agree(found, inputs):
    """Σ gradient ⊙ coefficient is the derivative, and no gradient hides in a coefficient."""
    forms = linear(found)
    gradients = {node: a for node, a in inputs.items() if node.args[0] in "dq"}
    values = {node: a for node, a in inputs.items() if node.args[0] not in "dq"}

    def total(form):
        return sum(gradients[g] * value(k, values) for g, k in form.items())

    for node, form in forms.sums.items():
        whole = total(form)
        gradients[node] = OPS[node.op].tensor(whole) if node.op in ("mean", "sum") else whole
    for kind in ("x", "r", "s", "p"):
        for name, node in getattr(found, kind).items():
            expected = value(node, inputs)
            got = torch.as_tensor(total(getattr(forms, kind)[name])).double().expand_as(expected)
            torch.testing.assert_close(got, expected, rtol=1e-9, atol=1e-9)


def test_what_does_not_reach_a_new_state_has_no_gradient():
    found = derivative(Trace((), {"h": symbol("s", "h") + 0 * x, "c": relu(constant(-1) + x * 0)}))
    assert found.x == {}
    assert found.s == {"h": d}
