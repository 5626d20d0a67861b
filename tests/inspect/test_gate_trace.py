"""Every gate and state of every step, by name."""

import numpy as np
import pytest
import torch

from elman.cells import CELLS, GRU, LSTM, Formulaic
from elman.inspect import trace_gates
from elman.scan import scan
from elman.state import State
from tests.zoo import FORMULAS, cell_of

MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]], dtype=torch.bool)


def test_one_step_of_an_lstm_is_the_hand_computation():
    cell = LSTM(3, 4).double()
    x, h, c = (torch.randn(2, n, dtype=torch.float64) for n in (3, 4, 4))
    W, U, b = (np.split(a.detach().numpy(), 4) for a in (cell.W, cell.U[0], cell.b))
    sums = [x.numpy() @ W[k].T + h.numpy() @ U[k].T + b[k] for k in range(4)]
    i, f, o = (1 / (1 + np.exp(-sums[k])) for k in (0, 1, 3))
    z = np.tanh(sums[2])
    memory = f * c.numpy() + i * z
    expected = {"i": i, "f": f, "z": z, "o": o, "h": o * np.tanh(memory), "c": memory}
    found = trace_gates(cell, x[:, None], state=State(h=h, c=c))
    assert list(found) == ["i", "f", "z", "o", "h", "c"]
    for name, array in expected.items():
        np.testing.assert_allclose(found[name][:, 0], array, rtol=1e-12)


@pytest.mark.parametrize("name", FORMULAS)
def test_states_are_those_of_scan(name):
    cell = cell_of(name)
    xs = torch.randn(3, 4, 3, dtype=torch.float64)
    found = trace_gates(cell, xs, MASK)
    ys, final = scan(cell, xs, MASK)
    np.testing.assert_allclose(found[cell.formula.output][MASK], ys[MASK].detach(), rtol=1e-10)
    for state in cell.formula.states:
        np.testing.assert_allclose(found[state][0, 3], getattr(final, state)[0].detach(), rtol=1e-10)
        np.testing.assert_allclose(found[state][1, 1], getattr(final, state)[1].detach(), rtol=1e-10)


@pytest.mark.parametrize("name", CELLS)
def test_every_array_has_all_steps_and_nan_exactly_at_the_padding(name):
    cell = CELLS[name](3, 4)
    found = trace_gates(cell, torch.randn(3, 4, 3), MASK)
    assert set(found) == {*cell.formula.gates, *cell.formula.states}
    for array in found.values():
        assert array.shape[:2] == (3, 4)
        assert (np.isnan(array).all(-1) == ~MASK.numpy()).all()
        assert (np.isnan(array).any(-1) == ~MASK.numpy()).all()


def test_what_the_padding_holds_does_not_matter():
    cell, xs = GRU(3, 4), torch.randn(3, 4, 3)
    dirty = xs.masked_fill(~MASK[..., None], float("nan"))
    for name, array in trace_gates(cell, dirty, MASK).items():
        np.testing.assert_array_equal(array, trace_gates(cell, xs, MASK)[name])


def test_gates_of_sigmoids_are_shares():
    found = trace_gates(LSTM(3, 4), torch.randn(2, 6, 3))
    for gate in "ifo":
        assert ((found[gate] > 0) & (found[gate] < 1)).all()
    assert (np.abs(found["z"]) < 1).all()


def test_the_gates_explain_the_states():
    found = trace_gates(GRU(3, 4), torch.randn(2, 6, 3))
    h, z, n = (found[name].astype(np.float64) for name in "hzn")
    before = np.concatenate([np.zeros((2, 1, 4)), h[:, :-1]], 1)
    np.testing.assert_allclose(h, z * before + (1 - z) * n, rtol=1e-5, atol=1e-6)


def test_looking_changes_nothing():
    cell = LSTM(3, 4)
    xs = torch.randn(2, 5, 3, requires_grad=True)
    before, _ = scan(cell, xs)
    trace_gates(cell, xs)
    assert isinstance(cell, Formulaic)
    assert torch.equal(scan(cell, xs)[0], before)
    assert all(weight.grad is None for weight in cell.parameters())


def test_in_reverse_the_gates_are_those_of_the_turned_sequence():
    cell, xs = LSTM(3, 4), torch.randn(2, 5, 3)
    turned = trace_gates(cell, xs.flip(1))
    for name, array in trace_gates(cell, xs, reverse=True).items():
        np.testing.assert_allclose(array, turned[name][:, ::-1], rtol=1e-6)


def test_in_reverse_and_with_padding_the_states_are_those_of_scan():
    cell, xs = GRU(3, 4), torch.randn(3, 4, 3)
    found = trace_gates(cell, xs, MASK, reverse=True)
    ys, _ = scan(cell, xs, MASK, reverse=True)
    np.testing.assert_allclose(found["h"][MASK], ys[MASK].detach(), rtol=1e-5, atol=1e-6)
