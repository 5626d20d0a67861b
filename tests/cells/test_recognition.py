"""torch's kernels run whatever is their formula, whoever wrote it, and nothing else."""

import pytest
import torch

from elman.cells import LSTM, FormulaCell
from elman.formula import State, formula, relu, sigmoid, tanh
from elman.scan import scan
from elman.scan.executors import torch_kernels
from elman.state import State as StateOf
from tests.cells.test_own_cell import lstm_by_hand


@formula(gates="new update reset", states="y", parameters="q", output="y")
def gru_by_hand(x, U, s, p):
    reset, update = sigmoid(U.reset(s.y) + x.reset), sigmoid(U.update(s.y) + x.update)
    new = tanh(reset * (p.q + U.new(s.y)) + x.new)
    return State(y=new * (1 - update) + s.y * update)


@formula(gates="a", states="y", output="y")
def simple_by_hand(x, U, s):
    return State(y=relu(U.a(s.y) + x.a))


@formula(gates="i f z o", states="h c")
def changed_sign(x, U, s):
    i, f, z, o = x + U(s.h)
    c = sigmoid(f) * s.c - sigmoid(i) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


@formula(gates="i f z o", states="h c", output="c")
def shows_its_memory(x, U, s):
    i, f, z, o = x + U(s.h)
    c = sigmoid(f) * s.c + sigmoid(i) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


@formula(gates="i f z o", states="h c")
def reads_its_memory(x, U, s):
    i, f, z, o = x + U(s.c)
    c = sigmoid(f) * s.c + sigmoid(i) * tanh(z)
    return State(h=sigmoid(o) * tanh(c), c=c)


@formula(gates="i f z o", states="h c", masks="d")
def masked(x, U, s, m):
    i, f, z, o = x + U(s.h)
    c = sigmoid(f) * s.c + sigmoid(i) * tanh(z)
    return State(h=m.d * sigmoid(o) * tanh(c), c=c)


@pytest.mark.parametrize(
    ("by_hand", "kernel"),
    [(lstm_by_hand, torch.lstm), (gru_by_hand, torch.gru), (simple_by_hand, torch.rnn_relu)],
    ids=["LSTM", "GRU", "RNN"],
)
def test_renamed_and_permuted_gates_are_recognised_and_computed(by_hand, kernel):
    assert torch_kernels.match(by_hand).kernel is kernel
    cell = FormulaCell(by_hand, 3, 4).double()
    for weight in cell.parameters():
        torch.nn.init.normal_(weight)
    xs = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    results = []
    for executor in ("torch", "loop"):
        ys, final = scan(cell, xs, executor=executor)
        gradients = torch.autograd.grad((ys * ys).sum(), [xs, *cell.parameters()])
        results.append([ys, *final, *gradients])
    torch.testing.assert_close(*results, rtol=1e-10, atol=1e-10)


def test_each_gate_finds_its_place():
    found = torch_kernels.match(lstm_by_hand)
    assert [lstm_by_hand.gates[i] for i in found.gates] == ["take", "keep", "new", "out"]
    assert [lstm_by_hand.states[j] for j in found.states] == ["shown", "memory"]


@pytest.mark.parametrize("other", [changed_sign, shows_its_memory, reads_its_memory, masked])
def test_another_formula_is_refused_however_near(other):
    assert torch_kernels.match(other) is None
    assert torch_kernels.TORCH.unsupported_reason(FormulaCell(other, 3, 4)) == (
        f"PyTorch has no kernel for the formula {other.name!r}"
    )


def test_a_block_diagonal_recurrence_is_another_formula():
    cell = LSTM(3, 4, heads=2)
    assert torch_kernels.unsupported_reason(cell) == (
        "PyTorch multiplies by whole matrices, and this cell has heads"
    )


def test_a_state_keeps_the_names_of_its_cell():
    _, final = scan(FormulaCell(lstm_by_hand, 3, 4), torch.randn(2, 5, 3), executor="torch")
    assert isinstance(final, StateOf)
    assert final.names == ("memory", "shown")
    assert LSTM(3, 4).initial(torch.zeros(1)).names == ("h", "c")
