"""A formula that cannot be traced is refused in one sentence: what was given, and what is allowed."""

import pytest
import torch

from elman.errors import FormulaError
from elman.formula import Formula, State, clamp_max, clamp_min, formula, mean, sigmoid, softmax, tanh
from elman.formula.symbols import VOCABULARY


def said(function, **names):
    """The sentence with which a formula is refused."""
    with pytest.raises(FormulaError) as refused:
        formula(**{"gates": "h", **names})(function).trace  # noqa: B018
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence


def of(expression):
    """A formula whose new state is an expression of the usual sum."""

    def cell(x, U, s):
        return State(h=expression(x.h + U.h(s.h)))

    return cell


@pytest.mark.parametrize(
    ("given", "expression"),
    [
        ("torch.clamp", lambda a: torch.clamp(a, 0, 1)),
        ("torch.softmax", lambda a: torch.softmax(a, -1)),
        ("torch.mean", torch.mean),
        ("torch.cat", lambda a: torch.cat([a, a])),
        ("torch.gelu", lambda a: torch.nn.functional.gelu(a, approximate="tanh")),
        (".sum", lambda a: a.sum()),
        ("a power by a value", lambda a: a**a),
        ("a power by a value", lambda a: 2**a),
        ("clamp_min by a value (write maximum(a, b) or minimum(a, b))", lambda a: clamp_min(a, tanh(a))),
        ("clamp_max by a value (write maximum(a, b) or minimum(a, b))", lambda a: clamp_max(1, a)),
        ("softmax of a number", lambda a: a * softmax(a * 0)),
        (".clamp", lambda a: a.clamp(0, 1)),
        ("a decision on a value (if, while, and, or, comparison)", lambda a: a if a else -a),
        ("a decision on a value (if, while, and, or, comparison)", lambda a: a or 1),
        ("a comparison", lambda a: a if a > 0 else -a),
        ("a comparison", lambda a: max(a, 0)),
        ("division by zero", lambda a: a / 0),
        ("a str", lambda a: a + "1"),
        ("a list", lambda a: a * [2]),
        ("a Tensor", lambda a: a + torch.ones(4)),
        ("a float", lambda a: a + float("nan")),
        ("a NoneType", lambda a: a - None),
    ],
)
def test_what_has_no_symbol_is_refused_by_name(given, expression):
    sentence = said(of(expression))
    assert sentence.startswith(f"a formula cannot use {given}; it may use +, -, *, /, **, abs, numbers, ")
    assert all(name in sentence for name in VOCABULARY)


def test_one_number_for_all_units_is_neither_a_state_nor_what_a_matrix_multiplies():
    assert said(of(mean)) == "cell: the new state 'h' is one number for all units"

    def cell(x, U, s):
        return State(h=x.h + U.h(mean(s.h)))

    assert said(cell) == "U.h multiplies one number for all units, not a vector"


def test_a_matrix_is_asked_for_by_the_name_of_a_gate_or_a_state():
    def cell(x, U, s):
        return State(h=tanh(x.n + U.q(s.h)))

    assert said(cell, gates="n") == "cell asks for U.q; it may ask for n, h"


def test_a_matrix_multiplies_a_vector():
    def cell(x, U, s):
        return State(h=tanh(x.h + U.h(1)))

    assert said(cell) == "U.h multiplies a vector, not a int"


def test_a_matrix_multiplies_once():
    def cell(x, U, s):
        return State(h=tanh(x.h + U.h(s.h) + U.h(x.h)))

    assert said(cell) == "cell multiplies by U.h twice; it may do so once"


def test_a_product_with_the_same_vector_is_the_same_product():
    @formula(gates="h")
    def cell(x, U, s):
        return State(h=tanh(x.h + U.h(s.h)) * sigmoid(U.h(s.h)))

    (product,) = cell.trace.products
    assert product.names == ("h",)


def test_softmax_wants_what_differs_between_units():
    sentence = said(of(lambda a: a * softmax(mean(a))))
    assert sentence == "cell: softmax of what is the same at every unit"


def test_a_declared_gate_is_used():
    def cell(x, U, s):
        return State(h=tanh(x.h + U.h(s.h)))

    assert said(cell, gates="h o") == "cell declares 'o' but never uses x.o"


def test_a_declared_parameter_is_used():
    def cell(x, U, s, p):
        return State(h=tanh(x.h + U.h(s.h)))

    assert said(cell, parameters="k") == "cell declares 'k' but never uses p.k"


@pytest.mark.parametrize(
    ("returned", "named"), [(lambda h: State(h=h), "h"), (lambda h: h, "Node"), (tuple, "tuple")]
)
def test_every_declared_state_is_returned(returned, named):
    def cell(x, U, s):
        h = tanh(x.h + U.h(s.h)) * s.c
        return returned(h) if returned is not tuple else (h, h)

    assert said(cell, states="h c") == f"cell must return a State of h, c, not {named}"


def test_a_state_depends_on_something():
    def cell(x, U, s):
        return State(h=tanh(x.h + U.h(s.h)), c=1.0)

    assert said(cell, states="h c") == "cell: the new state 'c' depends on no input"


def test_the_output_is_a_state():
    with pytest.raises(FormulaError, match=r"the output 'y' is not one of the states \('h',\)"):
        formula(gates="h", output="y")(of(tanh))


@pytest.mark.parametrize(
    ("function", "names", "takes", "wants"),
    [
        (lambda x, s: s, {}, "x, s", "x, U, s"),
        (lambda x, U, s, p: s, {}, "x, U, s, p", "x, U, s"),
        (lambda x, U, s: s, {"parameters": "k"}, "x, U, s", "x, U, s, p"),
        (lambda x, U, s: s, {"masks": "d"}, "x, U, s", "x, U, s, m"),
        (lambda x, U, s, m, p: s, {"parameters": "k", "masks": "d"}, "x, U, s, m, p", "x, U, s, p, m"),
    ],
)
def test_the_signature_is_that_of_its_kind(function, names, takes, wants):
    function.__name__ = "cell"
    assert said(function, **names) == (f"cell takes ({takes}); a formula of its kind takes ({wants})")


def test_only_like_gates_are_added():
    def cell(x, U, s):
        i, f = x + s
        return State(h=i * f)

    assert said(cell, gates="i f") == "only like gates can be added to i, f"


def test_the_decorator_gives_a_formula():
    made = formula(gates="i f", states="c h", parameters={"k": 2.0}, masks="d")(lambda x, U, s, p, m: s)
    assert isinstance(made, Formula)
    assert (made.gates, made.states, made.output) == (("i", "f"), ("c", "h"), "h")
    assert (made.parameters, made.masks) == ({"k": 2.0}, ("d",))
