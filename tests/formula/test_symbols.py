"""Symbols: equal expressions are one object, trivial ones disappear, and tensors agree."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.formula import exp, mean, relu, rsqrt, sigmoid, tanh
from elman.formula.symbols import constant, symbol
from elman.formula.traversal import substitute, topological
from tests.formula.expressions import INPUTS, compute, expressions, point, value

a, b = symbol("x", "a"), symbol("x", "b")


def test_equal_expressions_are_the_same_object():
    assert sigmoid(a + b) * tanh(a) is sigmoid(a + b) * tanh(a)


def test_the_order_of_a_sum_or_a_product_does_not_matter():
    assert a + b is b + a
    assert a * b is b * a
    assert a - b is not b - a


@pytest.mark.parametrize(
    ("long", "short"),
    [
        (a + 0, a),
        (0 + a, a),
        (a - 0, a),
        (a - a, constant(0)),
        (a + a, 2 * a),
        (a * 1, a),
        (1 * a, a),
        (a * 0, constant(0)),
        (a * -1, -a),
        (-1 * -a, a),
        (a + -b, a - b),
        (-a + b, b - a),
        (a - -b, a + b),
        (-a * b, -(a * b)),
        (a * -b, -(a * b)),
        (-a * -b, a * b),
        (a / 2, a * 0.5),
        (constant(2) + 3, constant(5)),
        (constant(2) - 3, constant(-1)),
        (constant(2) * 3, constant(6)),
        (tanh(constant(0)), constant(0)),
        (sigmoid(constant(0)), constant(0.5)),
        (relu(constant(-3)), constant(0)),
        (exp(constant(0)), constant(1)),
        (rsqrt(constant(4)), constant(0.5)),
        (mean(constant(4)), constant(4)),
    ],
)
def test_what_is_trivial_disappears(long, short):
    assert long is short


@pytest.mark.parametrize(
    "of", [lambda a, b: -(a - b), lambda a, b: 0 - a, lambda a, b: a + -b, lambda a, b: -a * b]
)
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_zero_keeps_its_sign(of, zero):
    x = torch.tensor(zero)
    assert torch.equal(1 / value(of(a, b), {a: x, b: x}), 1 / of(x, x))


@pytest.mark.parametrize("number", [-800.0, -1.0, 0.0, 2.0, 800.0])
def test_a_function_of_a_constant_is_what_torch_says(number):
    for f in (sigmoid, tanh, relu):
        folded = f(constant(number))
        expected = f(torch.tensor(number, dtype=torch.float64)).item()
        assert folded.args[0] == pytest.approx(expected, rel=1e-15, abs=1e-300)


@given(expressions, st.integers(0, 9))
def test_simplified_or_not_the_value_is_the_same(expression, seed):
    torch.manual_seed(seed)
    tensors = point(5)
    node = compute(expression, INPUTS)
    written = value(node, {INPUTS[n]: t for n, t in tensors.items()})
    torch.testing.assert_close(written, compute(expression, tensors), rtol=1e-10, atol=1e-10)


@given(expressions)
def test_operands_come_before_what_is_made_of_them(expression):
    order = topological([compute(expression, INPUTS)])
    assert len(order) == len(set(order))
    for place, node in enumerate(order):
        assert all(operand in order[:place] for operand in node.operands)


@given(expressions)
def test_substitution_is_computing_with_other_inputs(expression):
    others = {name: symbol("x", f"other {name}") for name in INPUTS}
    node = compute(expression, INPUTS)
    renamed = {INPUTS[n]: others[n] for n in INPUTS}
    assert substitute(node, {}) is node
    # Commuting sums are sorted by age, so names alone may not turn a tree; values tell.
    tensors = point(3)
    torch.testing.assert_close(
        value(substitute(node, renamed), {others[n]: t for n, t in tensors.items()}),
        value(node, {INPUTS[n]: t for n, t in tensors.items()}),
    )


def test_torch_functions_and_methods_mean_their_symbols():
    assert torch.tanh(a) is tanh(a)
    assert torch.sigmoid(a) is sigmoid(a)
    assert torch.relu(a) is a.relu() is relu(a)
    assert torch.exp(a) is a.exp() is exp(a)
    assert torch.rsqrt(a) is rsqrt(a)
