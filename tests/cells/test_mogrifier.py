"""The Mogrifier against the paper's equations, written out with matrices."""

import pytest
import torch

from elman.cells import CELLS, GRU, LSTM, FormulaCell, Mogrifier, WeightDrop, count_parameters
from elman.errors import ModelError
from elman.formula import formula, sigmoid, tanh
from elman.scan import scan
from elman.state import State, leaves, map_state
from tests.zoo import MOGRIFIED, cell_of

D, H = 3, 4
UNGATED = ("sru", "qrnn", "ssru", "hgrn")  # they do not read their output: a round has nothing to gate


def drawn(rounds: int, rank: int) -> Mogrifier:
    torch.manual_seed(rounds + rank)
    cell = Mogrifier(LSTM(D, H), rounds=rounds, rank=rank).double()
    for weight in cell.parameters():
        torch.nn.init.normal_(weight)
    return cell


def matrix(gate: torch.nn.Module) -> torch.Tensor:
    """Q_i or R_i, of full size."""
    if isinstance(gate, torch.nn.Linear):
        return gate.weight
    first, second = gate
    return second.weight @ first.weight


def slowly(cell: Mogrifier, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor):
    """One step of Melis et al. 2020 for single vectors: x^i, h^i, and the LSTM by torch's own cell."""
    x_of, h_of = {-1: x}, {0: h}
    for i, gate in enumerate(cell.gates, 1):
        if i % 2:
            x_of[i] = 2 * torch.sigmoid(matrix(gate) @ h_of[i - 1]) * x_of[i - 2]
        else:
            h_of[i] = 2 * torch.sigmoid(matrix(gate) @ x_of[i - 1]) * h_of[i - 2]
    x, h = x_of[max(x_of)], h_of[max(h_of)]
    lstm = cell.cell
    weights = lstm.W, lstm.U[0], lstm.b, torch.zeros_like(lstm.b)
    return torch.lstm_cell(x[None], (h[None], c[None]), *weights)


@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.parametrize("rounds", [1, 2, 5, 6])
def test_a_step_is_that_of_the_paper(rounds, rank):
    cell = drawn(rounds, rank)
    x, h, c = (torch.randn(2, n, dtype=torch.float64) for n in (D, H, H))
    new, y = cell(State(h=h, c=c), x)
    for row in range(2):
        expected = slowly(cell, x[row], h[row], c[row])
        torch.testing.assert_close(new.h[row], expected[0][0])
        torch.testing.assert_close(new.c[row], expected[1][0])
        torch.testing.assert_close(y[row], expected[0][0])


@formula(gates="a b c")
def out_of_order(x, U, s):
    """Reads its gates in another order than they lie in its matrices."""
    return State(h=sigmoid(x.c + U.c(s.h)) * tanh(x.a + U.b(s.h)) + x.b)


@pytest.mark.parametrize("executor", ["loop", "codegen"])
def test_the_gates_of_a_cell_may_be_read_in_any_order(executor):
    cell = Mogrifier(FormulaCell(out_of_order, D, H), rounds=2).double()
    for weight in cell.parameters():
        torch.nn.init.normal_(weight)
    x, h = torch.randn(1, D, dtype=torch.float64), torch.randn(1, H, dtype=torch.float64)
    ys, _ = scan(cell, x[:, None], state=State(h=h), executor=executor)
    Q, R = map(matrix, cell.gates)
    x = 2 * torch.sigmoid(h @ Q.T) * x
    h = 2 * torch.sigmoid(x @ R.T) * h
    inner = cell.cell
    a, b, c = (x @ inner.W.T + inner.b).chunk(3, -1)
    of_b, of_c = (h @ torch.cat(list(inner.U)).T).chunk(2, -1)
    if inner.formula.trace.products[0].names[0] == "c":
        of_b, of_c = of_c, of_b
    torch.testing.assert_close(ys[:, 0], torch.sigmoid(c + of_c) * torch.tanh(a + of_b) + b)


@pytest.mark.parametrize("name", [n for n in MOGRIFIED if "drop" not in n])
def test_its_gradients_are_those_of_finite_differences(name):
    cell = cell_of(name)
    xs = torch.randn(2, 2, D, dtype=torch.float64, requires_grad=True)
    begin = map_state(torch.randn_like, cell.initial(xs))
    names, parts = begin.names, [t.requires_grad_() for _, t in leaves(begin)]
    mask = torch.tensor([[True, True], [True, False]])

    def run(xs, *parts):
        ys, end = scan(cell, xs, mask, State(**dict(zip(names, parts, strict=True))))
        return ys, *end

    assert torch.autograd.gradcheck(run, (xs, *parts))


@pytest.mark.parametrize("name", [name for name in CELLS if name not in UNGATED])
@pytest.mark.parametrize("rank", [0, 1])
def test_it_begins_as_the_cell_it_holds_and_all_its_gates_learn(name, rank):
    inner = CELLS[name](D, H)
    cell, xs = Mogrifier(inner, rounds=2, rank=rank), torch.randn(2, 3, D)
    ys, _ = scan(cell, xs)
    torch.testing.assert_close(ys, scan(inner, xs, executor="loop")[0])
    ys.square().sum().backward()
    assert all(list(gate.parameters())[-1].grad.any() for gate in cell.gates)


def test_a_low_rank_costs_less():
    inner = count_parameters(LSTM(D, H))
    assert count_parameters(Mogrifier(LSTM(D, H), rounds=5)) == inner + 5 * D * H
    assert count_parameters(Mogrifier(LSTM(D, H), rounds=5, rank=1)) == inner + 5 * (D + H)


def test_dropped_weights_differ_between_batches_and_the_gates_stay():
    cell = Mogrifier(WeightDrop(LSTM(D, H), 0.5), rounds=2)
    first, second = cell.sample_masks(torch.zeros(1, 1, D)), cell.sample_masks(torch.zeros(1, 1, D))
    assert not torch.equal(first.cell.matrices()[0], second.cell.matrices()[0])
    assert first.gates is second.gates is cell.gates


def test_its_equations_are_the_rounds_and_the_formula():
    lines = Mogrifier(GRU(D, H), rounds=3).equations()
    assert lines[:3] == ["x = 2 ⊙ σ(Q_1 h) ⊙ x", "h = 2 ⊙ σ(R_2 x) ⊙ h", "x = 2 ⊙ σ(Q_3 h) ⊙ x"]
    assert lines[3:] == GRU(D, H).equations()


def test_what_it_cannot_be_is_said():
    with pytest.raises(ModelError, match="rounds must be at least 1 and rank at least 0, got 0 and 0"):
        Mogrifier(LSTM(D, H), rounds=0)
    with pytest.raises(ModelError, match="rounds must be at least 1 and rank at least 0, got 1 and -1"):
        Mogrifier(LSTM(D, H), rounds=1, rank=-1)
    with pytest.raises(ModelError, match="multiplies by whole matrices; its cell has heads"):
        Mogrifier(LSTM(D, H, heads=2))
    with pytest.raises(ModelError, match="sru does not read the state that a round would gate"):
        Mogrifier(CELLS["sru"](D, H), rounds=2)
    assert scan(Mogrifier(CELLS["sru"](D, H), rounds=1), torch.randn(1, 2, D))[0].shape == (1, 2, H)
