"""A cell of one's own: ten lines, everything derived, and it trains."""

import pytest
import torch
from torch import nn

from elman.cells import FormulaCell, Zoneout
from elman.errors import ModelError
from elman.formula import State, formula, sigmoid, tanh
from elman.inspect import trace_gates
from elman.layers import RNN
from elman.scan import scan


@formula(gates="f n", parameters={"a": 1.0})
def minimal(x, U, s, p):
    """The minimal gated unit of Zhou et al. (2016), with a gain on what it keeps."""
    f = sigmoid(x.f + U.f(s.h))
    n = tanh(x.n + U.n(f * s.h))
    return State(h=(1 - f) * p.a * s.h + f * n)


class Minimal(FormulaCell):
    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(minimal, input_size, hidden_size)


@formula(gates="out new keep take", states="memory shown", output="shown")
def lstm_by_hand(x, U, s):
    out, new, keep, take = x + U(s.shown)
    memory = sigmoid(take) * tanh(new) + s.memory * sigmoid(keep)
    return State(memory=memory, shown=tanh(memory) * sigmoid(out))


def learns(cell, executor: str) -> float:
    """Accuracy in telling the first symbol of six after 60 updates; chance is 50 %."""
    torch.manual_seed(1)
    rnn, decide = RNN(cell, executor=executor), nn.Linear(cell.output_size, 2)
    optimizer = torch.optim.Adam([*rnn.parameters(), *decide.parameters()], lr=0.02)
    xs = torch.randn(64, 6, 1).sign()
    labels = (xs[:, 0, 0] > 0).long()
    for _ in range(60):
        loss = nn.functional.cross_entropy(decide(rnn.last_output(xs)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return (decide(rnn.last_output(xs)).argmax(-1) == labels).float().mean().item()


@pytest.mark.parametrize("executor", ["auto", "codegen", "loop"])
def test_a_cell_in_ten_lines_learns(executor):
    assert learns(Minimal(1, 8), executor) > 0.95


@pytest.mark.parametrize("executor", ["auto", "torch", "codegen", "loop"])
def test_an_lstm_written_by_hand_learns_on_torchs_kernels_too(executor):
    assert learns(FormulaCell(lstm_by_hand, 1, 8), executor) > 0.95


def test_kernels_that_compute_something_else_are_refused_by_name():
    with pytest.raises(ModelError) as refused:
        scan(Minimal(1, 8), torch.zeros(1, 1, 1), executor="torch")
    assert str(refused.value) == (
        "the torch executor cannot run this cell: PyTorch has no kernel for the formula 'minimal'"
    )


def test_everything_else_comes_with_it():
    cell, xs = Minimal(3, 4), torch.randn(2, 5, 3)
    assert cell.equations()[0] == "f = σ(W_f x + U_f h + b_f)"
    assert sorted(trace_gates(cell, xs)) == ["f", "h", "n"]
    assert len(minimal.trace.products) == 2, "one for f, one for what f lets through"
    assert scan(Zoneout(cell, 0.1), xs)[0].shape == (2, 5, 4)
