"""What was wrong once, one test each."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from elman.cells import LSTM, Elman, FormulaCell, ProjectedLSTM, ReLUElman, ResetAfterGRU, Stacked
from elman.cells.gru import reset_after
from elman.errors import ElmanError, FormulaError, ModelError
from elman.formula import State, equations, formula, sigmoid, tanh, values
from elman.inspect import gradient_norms, trace_gates
from elman.layers import RNN, BiRNN, from_torch, to_torch
from elman.scan import scan
from elman.state import State as S

xs = torch.randn(2, 5, 3)


def of(expression):
    @formula(gates="h")
    def cell(x, U, s):
        return State(h=expression(x.h + U.h(s.h)))

    return cell


# 1 codegen executor -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", ["linear", "late sum", "cancelled", "operand is x", "operand is r"])
def test_derived_is_the_loop(case):
    def linear(x, U, s):
        return State(h=x.g + U.g(s.h), c=s.c + x.k)

    def late(x, U, s):
        k = sigmoid(x.k)
        return State(h=tanh(x.g + U.g(s.h) + k), c=s.c + k)

    def cancelled(x, U, s):
        k = sigmoid(x.k)
        return State(h=tanh(x.g + U.g(s.h)) + 0.3 * k + 0.3 * (1 - k), c=s.c)

    def by_x(x, U, s):
        return State(h=tanh(x.g + U.g(x.g) + s.h), c=s.c + x.k)

    def by_r(x, U, s):
        return State(h=tanh(x.g + U.g(s.h) + x.k + U.k(U.g(s.h))), c=s.c)

    function = dict(
        zip(
            ["linear", "late sum", "cancelled", "operand is x", "operand is r"],
            [linear, late, cancelled, by_x, by_r],
            strict=False,
        )
    )[case]
    cell = FormulaCell(formula(gates="g k", states="h c")(function), 3, 4)
    results = []
    for executor in ("loop", "codegen"):
        ys, final = scan(cell, xs, executor=executor)
        grads = torch.autograd.grad(
            (ys * ys).sum() + final.c.sum(), [*cell.parameters()], allow_unused=True, materialize_grads=True
        )
        results.append([ys, *final, *grads])
    torch.testing.assert_close(*results)


# 2 copies -----------------------------------------------------------------------------------------------------
def test_a_cell_can_be_copied():
    cell = LSTM(3, 4)
    again = copy.deepcopy(cell)
    for executor in ("torch", "codegen", "loop"):
        torch.testing.assert_close(scan(again, xs, executor=executor)[0], scan(cell, xs, executor=executor)[0])


def test_a_cell_can_be_pickled():
    cell = LSTM(3, 4)
    torch.testing.assert_close(scan(pickle.loads(pickle.dumps(cell)), xs)[0], scan(cell, xs)[0])


# 3 inspection -------------------------------------------------------------------------------------------------
def test_norms_leave_the_dtype_alone():
    cell = LSTM(3, 4)
    gradient_norms(cell, xs)
    assert cell.W.dtype == torch.float32


def test_norms_take_the_parts_of_a_state_as_independent():
    cell = LSTM(3, 4).double()
    x = xs.double()
    s1 = cell.step(cell.initial(x), cell.project(x[:, 0]))
    s1 = S(h=s1.h.detach().requires_grad_(), c=s1.c.detach().requires_grad_())
    y = cell.step(s1, cell.project(x[:, 1])).h
    d = torch.randn(y.shape, generator=torch.Generator().manual_seed(0)).double()
    g = torch.autograd.grad((y * d / d.norm(dim=-1, keepdim=True)).sum(), [*s1])
    expected = torch.cat(g, -1).norm(dim=-1).mean().item()
    np.testing.assert_allclose(gradient_norms(cell, x[:, :2])[1:], [expected, 1.0])


def test_no_steps_give_empty_arrays():
    assert trace_gates(LSTM(3, 4), xs[:, :0])["i"].shape == (2, 0, 4)


def test_pictures_can_be_imported_with_shapes_checked():
    import elman.inspect.plots  # noqa: F401


def test_a_linear_gate_is_its_preactivation():
    @formula(gates="f n")
    def cell(x, U, s):
        f = sigmoid(x.f + U.f(s.h))
        return State(h=f * s.h + (1 - f) * (x.n + U.n(s.h)))

    assert values(cell)["n"].op == "add"


# 4 equations --------------------------------------------------------------------------------------------------
def test_equations_do_not_depend_on_what_was_traced_before():
    code = "from elman.cells import *; {}print(LSTM(3, 4).equations())"
    fresh, later = (
        subprocess.run([sys.executable, "-c", code.format(before)], capture_output=True, text=True).stdout
        for before in ("", "CoupledLSTM(3, 4); ")
    )
    assert fresh == later


def test_a_bias_is_written_wherever_its_input_is():
    @formula(gates="h")
    def cell(x, U, s):
        return State(h=tanh(x.h * U.h(s.h)))

    assert "b_h" in equations(cell)[0]


# 5 refusals ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "expression",
    [
        lambda a: a**a,
        lambda a: a // 2,
        lambda a: a @ a,
        lambda a: a if a == 0 else -a,
        lambda a: a % 2,
        float,
        lambda a: a[0],
    ],
    ids=["**", "//", "@", "==", "%", "float", "[]"],
)
def test_what_has_no_symbol_is_refused(expression):
    with pytest.raises(FormulaError):
        of(expression).trace  # noqa: B018


@pytest.mark.parametrize(
    "wrong", [lambda x, U, s: State(h=x.q + U.h(s.h)), lambda x, U, s: State(h=x.h + U.h(s.q))]
)
def test_an_unknown_gate_or_state_is_refused_as_an_unknown_matrix_is(wrong):
    with pytest.raises(FormulaError):
        formula(gates="h")(wrong).trace  # noqa: B018


def test_gates_are_not_multiplied_as_tuples():
    def cell(x, U, s):
        i, f = (x + U(s.h)) * 2
        return State(h=i * f)

    with pytest.raises(FormulaError):
        formula(gates="i f")(cell).trace  # noqa: B018


def test_a_declared_mask_is_used():
    with pytest.raises(FormulaError):
        formula(gates="h", masks="d")(lambda x, U, s, m: State(h=x.h + U.h(s.h))).trace  # noqa: B018


def test_a_state_made_of_parameters_alone_is_refused():
    of_parameters = formula(gates="h", states="h c", parameters="k")(
        lambda x, U, s, p: State(h=x.h + U.h(s.h), c=p.k)
    )
    with pytest.raises(FormulaError):
        _ = of_parameters.trace


def test_a_name_is_declared_once():
    with pytest.raises(FormulaError):
        formula(gates="h h")(lambda x, U, s: State(h=x.h + U.h(s.h))).trace  # noqa: B018


def test_widths_of_unknown_states_are_refused():
    with pytest.raises(ElmanError):
        FormulaCell(of(tanh), 3, 4, widths={"q": 2})


# 6 conversion and layers --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "layer",
    [
        RNN(Stacked([Elman(3, 4), ReLUElman(4, 4)])),
        RNN(Stacked([LSTM(3, 4), LSTM(4, 6)])),
        RNN(Stacked([LSTM(3, 4), LSTM(4, 4, bias=False)])),
        BiRNN(LSTM(3, 4), ResetAfterGRU(3, 4)),
    ],
    ids=["tanh and relu", "widths", "bias", "kinds"],
)
def test_layers_that_no_module_of_torch_has_are_refused(layer):
    with pytest.raises(ModelError):
        to_torch(layer)


def test_biases_are_not_dropped():
    layer, module = RNN(FormulaCell(reset_after, 3, 4, bias=False)), nn.GRU(3, 4, batch_first=True)
    try:
        from_torch(layer, module.state_dict())
    except ModelError:
        return
    torch.testing.assert_close(layer(xs)[0], module(xs)[0])


def test_a_projection_to_the_same_width_runs_on_auto():
    cell = ProjectedLSTM(3, 4, cell_size=4)
    with torch.no_grad():
        torch.testing.assert_close(scan(cell, xs)[0], scan(cell, xs, executor="loop")[0])


@pytest.mark.parametrize("mask", [None, torch.ones(2, 0, dtype=torch.bool)])
def test_accepting_nothing_is_zero(mask):
    assert RNN(LSTM(3, 4)).last_output(xs[:, :0], mask).tolist() == [[0.0] * 4] * 2


def test_the_help_of_a_measurement_is_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "elman", "bench", "recurrence", "--help"], capture_output=True, text=True
    )
    assert "--rounds" in done.stdout
