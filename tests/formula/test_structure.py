"""The class of a recurrence is read from its trace, sign by sign; its coefficients are exact."""

import pytest
import torch

from elman.cells import CELLS
from elman.formula import State, formula, mean, sigmoid, tanh
from elman.formula.structure import DENSE, LINEAR, POINTWISE, find_structure, split_linear
from elman.formula.symbols import constant, symbol
from tests.formula.expressions import value
from tests.formula.points import at_random
from tests.zoo import cell_of

LINEAR_CELLS = ["mingru", "minlstm", "rg-lru", "qrnn", "ssru", "hgrn"]


def classify(function, **names) -> str:
    return str(find_structure(formula(**names)(function)))


def test_the_class_of_each_shipped_cell():
    found = {name: find_structure(make(3, 4).formula).kind for name, make in CELLS.items()}
    expected = dict.fromkeys(CELLS, DENSE) | dict.fromkeys(LINEAR_CELLS, LINEAR)
    assert found == expected | dict.fromkeys(["sru", "indrnn", "para-gru"], POINTWISE)


@pytest.mark.parametrize("name", LINEAR_CELLS)
def test_factor_and_term_give_the_new_state(name):
    some = at_random(cell_of(name).formula)
    solved: set[str] = set()
    for level in find_structure(cell_of(name).formula).levels:
        for state in level:
            factor, term = (value(a, some.inputs) for a in (state.factor, state.term))
            old = some.inputs[symbol("s", state.name)]
            torch.testing.assert_close(factor * old + term, some.new[state.name], rtol=1e-12, atol=1e-12)
            reads = {a for a in some.inputs if a.args[0] == "s" and a.args[1] not in solved}
            assert not reads & {*walk(state.factor), *walk(state.term)}
        solved |= {state.name for state in level}


def walk(a):
    yield a
    for operand in a.operands:
        yield from walk(operand)


def test_one_sign_or_one_function_changes_what_is_read():
    def decay(x, U, s):
        return State(h=(1 - sigmoid(x.z)) * s.h + x.n)

    def grow(x, U, s):
        return State(h=(1 + sigmoid(x.z)) * s.h + x.n)

    def bend(x, U, s):
        return State(h=(1 - sigmoid(x.z)) * tanh(s.h) + x.n)

    def square(x, U, s):
        return State(h=x.z * s.h * s.h + x.n)

    shrinking, growing = (find_structure(formula(gates="z n")(f)).levels[0][0].factor for f in (decay, grow))
    gate = sigmoid(symbol("x", "z"))
    assert shrinking is 1 - gate
    assert growing is 1 + gate
    assert classify(bend, gates="z n") == "pointwise: h is not linear in itself: it is read by tanh"
    assert classify(square, gates="z n") == "pointwise: h is not linear in itself: it is read by mul"


def test_states_that_read_each_other_are_not_solved_one_after_the_other():
    def turn(x, U, s):
        return State(h=x.a * s.h - s.c, c=x.a * s.c + s.h)

    assert classify(turn, gates="a", states="h c") == "pointwise: h and c read each other"


def test_a_chain_of_states_is_solved_in_its_order():
    def chain(x, U, s):
        return State(h=s.b * x.a, b=0.5 * s.b + s.c, c=x.a)

    levels = find_structure(formula(gates="a", states="h b c")(chain)).levels
    assert [[state.name for state in level] for level in levels] == [["c"], ["b"], ["h"]]
    assert levels[1][0].factor is constant(0.5)


def test_a_mean_over_units_and_a_product_are_dense():
    def over_units(x, U, s):
        return State(h=x.a * mean(s.h))

    def product(x, U, s):
        return State(h=x.a + U.a(s.h))

    assert classify(over_units, gates="a") == "dense: mean takes all units at once"
    assert classify(product, gates="a") == "dense: a step multiplies by U.a"


def test_the_form_survives_brackets_quotients_and_minus_signs():
    x, h = symbol("x", "a"), symbol("s", "h")
    factor, term = split_linear(x - (h - 3) / x * 2, h)
    some = {x: torch.tensor(1.7, dtype=torch.float64), h: torch.tensor(0.3, dtype=torch.float64)}
    whole = value(x - (h - 3) / x * 2, some)
    torch.testing.assert_close(value(factor, some) * some[h] + value(term, some), whole)
    assert split_linear(x / h, h) == "div"
    assert split_linear(x * x, h) == (constant(0), x * x)
