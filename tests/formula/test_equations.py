"""Typeset equations are the lectures' formulas."""

import re
from itertools import combinations

import pytest

import elman.formula
from elman.cells import CELLS, GRU, LSTM, Elman, Mogrifier
from elman.formula import LATEX, State, equations, exp, formula, maximum, relu, sigmoid, tanh, values
from elman.formula.symbols import symbol

LSTM_UNICODE = [
    "i = σ(W_i x + U_i h + b_i)",
    "f = σ(W_f x + U_f h + b_f)",
    "z = tanh(W_z x + U_z h + b_z)",
    "o = σ(W_o x + U_o h + b_o)",
    "c' = f ⊙ c + i ⊙ z",
    "h' = o ⊙ tanh(c')",
]
GRU_UNICODE = [
    "r = σ(W_r x + U_r h + b_r)",
    "z = σ(W_z x + U_z h + b_z)",
    "n = tanh(W_n x + U_n (r ⊙ h) + b_n)",
    "h' = z ⊙ h + (1 - z) ⊙ n",
]
LSTM_LATEX = [
    r"i = \sigma(W_{i} x_t + U_{i} h_{t-1} + b_{i})",
    r"f = \sigma(W_{f} x_t + U_{f} h_{t-1} + b_{f})",
    r"z = \tanh(W_{z} x_t + U_{z} h_{t-1} + b_{z})",
    r"o = \sigma(W_{o} x_t + U_{o} h_{t-1} + b_{o})",
    r"c_t = f \odot c_{t-1} + i \odot z",
    r"h_t = o \odot \tanh(c_t)",
]
GRU_LATEX = [
    r"r = \sigma(W_{r} x_t + U_{r} h_{t-1} + b_{r})",
    r"z = \sigma(W_{z} x_t + U_{z} h_{t-1} + b_{z})",
    r"n = \tanh(W_{n} x_t + U_{n} (r \odot h_{t-1}) + b_{n})",
    r"h_t = z \odot h_{t-1} + (1 - z) \odot n",
]

FACTOR = r"(\\?\w*\([^()]*\)|[\w{}'-]+)"
PRODUCT = re.compile(rf"{FACTOR} (⊙|\\odot) {FACTOR}")


def alike(lines: list[str]) -> list[str]:
    """The equations with the factors of each product in alphabetical order."""

    def ordered(product: re.Match[str]) -> str:
        first, times, second = product.groups()
        return f" {times} ".join(sorted((first, second)))

    return [PRODUCT.sub(ordered, line) for line in lines]


@pytest.mark.parametrize(
    ("cell", "lines"), [(LSTM(3, 4), LSTM_UNICODE), (GRU(3, 4), GRU_UNICODE)], ids=["LSTM", "GRU"]
)
def test_unicode_is_the_formula_of_the_lectures(cell, lines):
    assert alike(cell.equations()) == alike(lines)


@pytest.mark.parametrize(
    ("cell", "lines"), [(LSTM(3, 4), LSTM_LATEX), (GRU(3, 4), GRU_LATEX)], ids=["LSTM", "GRU"]
)
def test_latex_is_the_formula_of_the_lectures(cell, lines):
    assert alike(equations(cell.formula, LATEX)) == alike(lines)


def test_a_cell_without_biases_has_none_in_its_equations():
    assert Elman(3, 4, bias=False).equations() == ["h' = tanh(W_h x + U_h h)"]
    assert alike(LSTM(3, 4, bias=False).equations()) == alike(
        [re.sub(r" \+ b_\w", "", line) for line in LSTM_UNICODE]
    )


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "relu", "exp", "softplus", "silu", "gelu"])
@pytest.mark.parametrize("bias", [True, False])
def test_a_gate_is_called_by_what_any_activation_makes_of_it(name, bias):
    squash = getattr(elman.formula, name)

    @formula(gates="r n")
    def gated(x, U, s):
        r = squash(x.r + U.r(s.h))
        return State(h=r * s.h + (1 - r) * tanh(x.n * r))

    first, second, third = equations(gated, bias=bias)
    assert re.fullmatch(r"r = \S+\(W_r x \+ U_r h" + (r" \+ b_r\)" if bias else r"\)"), first)
    assert second == ("n = tanh(r ⊙ (W_n x + b_n))" if bias else "n = tanh(r ⊙ W_n x)")
    assert third == "h' = r ⊙ h + (1 - r) ⊙ n"


def test_parameters_masks_numbers_and_functions_are_written():
    @formula(gates="h", parameters="k", masks="d")
    def cell(x, U, s, p, m):
        return State(h=relu(x.h + U.h(s.h) + p.k) * m.d - 2 * s.h)

    (gate,) = equations(cell, bias=False)
    assert alike([gate]) == alike(["h' = ReLU(W_h x + U_h h + p_k) ⊙ m_d - 2 ⊙ h"])


def test_a_gate_is_written_before_what_needs_it():
    """The output gate of a peephole LSTM sees the new memory, which needs the other gates."""
    lines = CELLS["peephole-lstm"](3, 4).equations()
    assert [line.split(" = ")[0] for line in lines] == ["i", "f", "z", "c'", "o", "h'"]


@pytest.mark.parametrize("name", CELLS)
def test_every_letter_is_defined_before_it_is_used(name):
    cell = CELLS[name](3, 4)
    known = {*cell.formula.states}
    for line in cell.equations():
        letter, text = line.split(" = ")
        free = set(re.findall(r"(?<![\w_])([a-z]'?)(?![\w(])", text)) - {"x"}
        assert free <= known, line
        known.add(letter)
    assert {f"{state}'" for state in cell.formula.states} <= known


def test_values_are_the_gates_after_squashing_and_the_new_states():
    @formula(gates="f n", states="h c")
    def cell(x, U, s):
        f, n = sigmoid(x.f + U.f(s.h)), tanh(x.n + U.n(s.h))
        c = f * s.c + n
        return State(h=tanh(c), c=c)

    found = values(cell)
    assert list(found) == ["f", "n", "h", "c"]
    assert [found[n].op for n in found] == ["sigmoid", "tanh", "tanh", "add"]
    assert found["h"] is cell.trace.new["h"]


def test_a_gate_is_named_by_its_own_value_not_by_one_that_gates_share():
    """A stabiliser reads two gates at once: neither gate is that value, nor the other gate."""

    @formula(gates="i f z o", states="h c n m")
    def stabilised(x, U, s):
        i, f, z, o = x + U(s.h)
        m = i + relu(f + s.m - i)
        i, f = exp(i - m), exp(f + s.m - m)
        c, n = f * s.c + i * tanh(z), f * s.n + i
        return State(h=sigmoid(o) * c / n, c=c, n=n, m=m)

    lines = equations(stabilised)
    assert lines[:2] == ["i = W_i x + U_i h + b_i", "f = W_f x + U_f h + b_f"]
    assert lines[4] == "m' = ReLU(m + f - i) + i"
    found = values(stabilised)
    assert len({found[name] for name in found}) == len(found)
    assert found["f"] is symbol("x", "f") + symbol("r", "f")


def test_a_gate_may_read_what_another_gate_has_become():
    found = values(CELLS["reset-after-gru"](3, 4).formula)
    assert [found[name].op for name in "rzn"] == ["sigmoid", "sigmoid", "tanh"]


def test_the_order_of_a_maximum_does_not_depend_on_what_was_traced_before():
    @formula(gates="a b")
    def cell(x, U, s):
        return State(h=maximum(x.b, x.a) * maximum(s.h, x.a + x.b))

    line = equations(cell, bias=False)[-1]
    assert "max(a, b)" in line
    assert "max(a + b, h)" in line


def test_in_a_sum_the_input_stands_before_the_recurrence_whatever_their_names():
    @formula(gates="a b")
    def cell(x, U, s):
        return State(h=tanh(U.a(s.h) + x.b) * sigmoid(x.a))

    assert equations(cell, bias=False) == ["a = σ(W_a x)", "b = tanh(W_b x + U_a h)", "h' = a ⊙ b"]


def test_a_quotient_in_a_product_and_the_blocks_of_heads_are_written():
    assert CELLS["minlstm"](3, 4).equations()[-1] == "h' = (f / (f + i)) ⊙ h + n ⊙ (i / (f + i))"
    assert LSTM(3, 4, heads=2).equations()[-1] == "U = diag(U^1, …, U^2)"


def test_all_that_a_matrix_multiplies_stands_in_brackets():
    @formula(gates="f n")
    def cell(x, U, s):
        f = sigmoid(x.f + U.f(s.h))
        return State(h=tanh(x.n + U.n((1 - f) * s.h)))

    assert equations(cell)[1] == "n = tanh(W_n x + U_n ((1 - f) ⊙ h) + b_n)"


def test_a_further_matrix_is_a_gate_where_its_result_alone_is_squashed():
    """The gates of a Mogrifier's rounds have names; what its cell reads of the input has not."""
    found = values(Mogrifier(LSTM(3, 4), rounds=2).formula)
    assert list(found) == ["i", "f", "z", "o", "x", "Q_1", "R_2", "h", "c"]
    assert found["Q_1"].op == found["R_2"].op == "sigmoid"


def test_a_notebook_shows_a_cell_and_a_formula_as_one_latex_display_of_all_equations():
    shown = LSTM(3, 4)._repr_latex_()
    assert shown.startswith(r"$$\begin{aligned}")
    assert shown.endswith(r"\end{aligned}$$")
    lines = shown.removeprefix(r"$$\begin{aligned}").removesuffix(r"\end{aligned}$$").split(r" \\ ")
    assert [line.replace(" &= ", " = ") for line in lines] == equations(LSTM.formula, LATEX)
    assert LSTM.formula._repr_latex_() == shown
    assert "b_" not in LSTM(3, 4, bias=False)._repr_latex_()


def test_a_formula_says_its_names_and_no_address():
    assert repr(GRU.formula) == "<formula gru: gates r z n, states h>"


def parts(x, U, s, p, m):
    """Terms and factors of every kind, as they are written; in brackets what a sum is in a product."""
    return {
        "2": 2,
        "(1 - h)": 1 - s.h,
        "(h + p_k)": s.h + p.k,
        "p_k": p.k,
        "m_z": m.z,
        "b": tanh(x.b + U.b(s.h)),
        "e": x.e,
        "W_b x": x.b,
        "U_b h": U.b(s.h),
        "tanh(c)": tanh(s.c),
        "h": s.h,
    }


def write_below(combine) -> str:
    """How a combination of parts is written below a fraction stroke."""

    @formula(gates="a b e", states="h c", parameters="k", masks="z")
    def cell(x, U, s, p, m):
        h = sigmoid(x.a) * tanh(x.b + U.b(s.h)) * p.k * m.z
        return State(h=h, c=x.e / combine(parts(x, U, s, p, m)))

    (line,) = (line for line in equations(cell, bias=False) if line.startswith("c'"))
    return line.removeprefix("c' = e / ")


PRODUCT_ORDER = ["2", "(1 - h)", "(h + p_k)", "p_k", "m_z", "b", "W_b x", "tanh(c)", "h"]


@pytest.mark.parametrize(("first", "second"), combinations(PRODUCT_ORDER, 2))
def test_factors_stand_in_one_order_however_they_are_multiplied(first, second):
    """Numbers, brackets, parameters and masks, letters, the rest, old states."""
    assert write_below(lambda part: part[first] * part[second]) == f"({first} ⊙ {second})"
    assert write_below(lambda part: part[second] * part[first]) == f"({first} ⊙ {second})"


SUM_ORDER = ["W_b x", "U_b h", "h", "p_k", "tanh(c)", "b", "e"]


@pytest.mark.parametrize(("first", "second"), combinations(SUM_ORDER, 2))
def test_terms_stand_in_one_order_however_they_are_added(first, second):
    """The input, the recurrence, old states and parameters and what is made of old states, the rest."""
    assert write_below(lambda part: part[first] + part[second]) == f"({first} + {second})"
    assert write_below(lambda part: part[second] + part[first]) == f"({first} + {second})"


def test_a_matrix_that_has_the_name_of_a_gate_names_no_other_value():
    @formula(gates="a", matrices="a")
    def cell(x, U, s):
        return State(h=tanh(x.a) * sigmoid(U.a(s.h)))

    assert values(cell)["a"] is tanh(symbol("x", "a"))
