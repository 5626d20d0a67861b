"""The recurrence of the lectures, row by row, each against something that is not Elman."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elman.cells import (
    GRU,
    LSTM,
    BoundedLSTM,
    Cell,
    CoupledLSTM,
    Elman,
    FlippedGRU,
    FormulaCell,
    ProjectedLSTM,
    ReLUElman,
    ReLUGRU,
    ResetAfterGRU,
    Stacked,
    count_parameters,
)
from elman.cells.gate_examples import SoftGate, coupled_gates, hard_gate, independent_gates
from elman.inspect import gradient_norms, trace_gates
from elman.inspect.comparison import Comparison
from elman.layers import MERGES, RNN, BiRNN, from_torch, to_torch
from elman.scan import scan
from elman.state import State

DENSE_EXECUTORS = ["torch", "codegen", "loop", "auto"]  # that run an LSTM in float64 without a GPU


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64)


def filled(cell):
    """The cell in float64, its weights far from where they begin."""
    for weight in cell.parameters():
        nn.init.normal_(weight, std=0.6)
    return cell.double()


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def weights(cell: FormulaCell):
    """By gate, as numpy arrays: W (H, D), U (H, H) and b (H)."""
    H = cell.output_size
    W, b = cell.W.detach().numpy(), None if cell.b is None else cell.b.detach().numpy()
    U = np.concatenate([u.detach().numpy() for u in cell.U])
    rows = {gate: slice(k * H, (k + 1) * H) for k, gate in enumerate(cell.formula.gates)}
    return (
        {gate: W[row] for gate, row in rows.items()},
        {gate: U[row] for gate, row in rows.items()},
        {gate: 0.0 if b is None else b[row] for gate, row in rows.items()},
    )


def close(ours, theirs):
    theirs = torch.as_tensor(np.asarray(theirs.detach() if torch.is_tensor(theirs) else theirs))
    torch.testing.assert_close(ours.detach(), theirs, rtol=1e-10, atol=1e-10)


class RunningSum(Cell[torch.Tensor]):
    """s_i = s_{i-1} + x_i and y_i = 2 s_i: an R and an O of one's own."""

    input_size = output_size = 3

    def initial(self, like):
        return like.new_zeros(like.shape[0], 3)

    def project(self, x):
        return x

    def step(self, state, x):
        return state + x

    def output(self, state):
        return 2 * state


def test_row_02_any_r_and_o_give_y_1_to_n_and_y_n():
    xs = random(2, 6, 3)
    rnn = RNN(RunningSum())
    close(rnn(xs)[0], 2 * xs.cumsum(1))
    close(rnn.last_output(xs), 2 * xs.sum(1))
    close(rnn(xs)[1], xs.sum(1))


def test_row_03_a_one_hot_row_picks_a_column_as_an_embedding_does():
    cell, ids = filled(Elman(5, 4)), torch.tensor([[3, 0, 3, 4]])
    one_hot = nn.functional.one_hot(ids, 5).double()
    W, U, b = cell.W, cell.U[0], cell.b
    h = torch.zeros(4, dtype=torch.float64)
    for t, token in enumerate(ids[0].tolist()):
        h = torch.tanh(W[:, token] + U @ h + b)
        close(scan(cell, one_hot)[0][0, t], h)
    table = nn.Embedding.from_pretrained(random(5, 7))
    assert scan(filled(Elman(7, 4)), table(ids))[0].shape == (1, 4, 4)


def test_row_04_s_0_is_zero_unless_it_is_given():
    theirs = nn.RNN(3, 4, batch_first=True).double()
    ours = RNN(Elman(3, 4)).double()
    from_torch(ours, theirs.state_dict())
    xs, h = random(2, 5, 3), random(2, 4)
    close(ours(xs)[0], theirs(xs)[0])
    close(ours(xs, None, State(h=h))[0], theirs(xs, h[None])[0])
    assert not torch.equal(ours(xs)[0], ours(xs, None, State(h=h))[0])


def test_row_05_parameters_are_shared_so_unrolled_and_recursive_evaluation_agree():
    cell, xs = filled(Elman(3, 4)), random(1, 4, 3)

    def recursive(n):
        """s_n = R(s_{n-1}, x_n), down to s_0."""
        if n == 0:
            return cell.initial(xs)
        return cell.step(recursive(n - 1), cell.project(xs[:, n - 1]))

    ys, _ = scan(cell, xs)
    close(ys[:, -1], recursive(4).h)
    # Unrolled: a net with a copy of the weights at each position. Sharing adds up their gradients.
    copies = [cell.U[0].detach().clone().requires_grad_() for _ in range(4)]
    h = torch.zeros(1, 4, dtype=torch.float64)
    for t, U in enumerate(copies):
        h = torch.tanh(cell.project(xs[:, t])[0] + h @ U.t())
    (shared,) = torch.autograd.grad(ys[:, -1].sum(), [cell.U[0]])
    close(shared, sum(torch.autograd.grad(h.sum(), copies)))


def test_row_08_both_directions_are_concatenated_at_each_step():
    layer, xs = filled(BiRNN(LSTM(3, 4), LSTM(3, 2))), random(2, 5, 3)
    ys, _ = layer(xs)
    ahead, back = RNN(layer.forward_rnn.cell), RNN(layer.backward_rnn.cell)
    for i in range(5):  # biRNN(x, i) = [RNN(x_{1:i}); RNN_b(x_{n:i})]
        until, since = ahead.last_output(xs[:, : i + 1]), back.last_output(xs[:, i:].flip(1))
        close(ys[:, i], torch.cat([until, since], -1))
    theirs = nn.LSTM(3, 4, batch_first=True, bidirectional=True).double()
    ours = BiRNN(LSTM(3, 4), LSTM(3, 4)).double()
    from_torch(ours, theirs.state_dict())
    close(ours(xs)[0], theirs(xs)[0])


@pytest.mark.parametrize(
    ("name", "by_hand"),
    [("sum", lambda f, b: f + b), ("mean", lambda f, b: 0.5 * f + 0.5 * b), ("product", np.multiply)],
)
def test_row_09_other_ways_of_combining(name, by_hand):
    layer, xs = filled(BiRNN(GRU(3, 4), Elman(3, 4), merge=MERGES[name])), random(2, 5, 3)
    ahead = scan(layer.forward_rnn.cell, xs)[0].detach().numpy()
    back = scan(layer.backward_rnn.cell, xs.flip(1))[0].flip(1).detach().numpy()
    close(layer(xs)[0], by_hand(ahead, back))


@pytest.mark.parametrize(("make", "g"), [(Elman, np.tanh), (ReLUElman, lambda a: np.maximum(a, 0))])
def test_row_10_the_simple_rnn(make, g):
    cell, xs = filled(make(3, 4)), random(2, 5, 3)
    W_s, W_x, b = (cell.U[0].t().detach().numpy(), cell.W.t().detach().numpy(), cell.b.detach().numpy())
    s = np.zeros((2, 4))
    ys, _ = scan(cell, xs)
    for i in range(5):
        s = g(s @ W_s + xs[:, i].numpy() @ W_x + b)
        close(ys[:, i], s)


@given(st.integers(1, 40), st.integers(1, 40))
def test_row_11_the_recurrence_costs_h_squared(d, h):
    for bias in (True, False):
        forward = sum(p.numel() for p in nn.Linear(d, h, bias=bias).parameters())
        assert count_parameters(Elman(d, h, bias=bias)) == forward + h * h


def test_row_12_tanh_vanishes_and_relu_explodes():
    """With one unit dL/ds_t is a product of slopes; with open ReLU units a power."""
    tanh, relu = Elman(1, 1), ReLUElman(1, 1)
    for cell in (tanh, relu):
        nn.init.constant_(cell.W, 1.0)
        nn.init.constant_(cell.U[0], 1.5)
    n = 40
    xs = torch.full((1, n, 1), 0.5)
    h, slopes = 0.0, []
    for _ in range(n):
        h = math.tanh(0.5 + 1.5 * h)
        slopes.append(1.5 * (1 - h * h))
    vanishing, exploding = gradient_norms(tanh, xs), gradient_norms(relu, xs)
    np.testing.assert_allclose(vanishing, [math.prod(slopes[t:]) for t in range(n + 1)], rtol=1e-5)
    np.testing.assert_allclose(exploding, [1.5 ** (n - t) for t in range(n + 1)], rtol=1e-5)
    assert vanishing[0] < 1e-15 < 1e6 < exploding[0]


def test_row_13_the_hard_gate_of_the_lecture_gives_8_11_3():
    s, x, g = torch.tensor([8, 9, 3]), torch.tensor([10, 11, 12]), torch.tensor([0, 1, 0])
    assert hard_gate(g, x, s).tolist() == [8, 11, 3]


def test_row_14_a_soft_gate_is_a_sigmoid_layer_times_a_vector():
    gate, u = SoftGate(3, 2), torch.tensor([[10.0, -4.0]])
    x, h = torch.randn(1, 3), torch.randn(1, 2)
    W, U, b = (a.detach().numpy() for a in (gate.W.weight, gate.U.weight, gate.W.bias))
    v = sigmoid(W @ x[0].numpy() + U @ h[0].numpy() + b) * u[0].numpy()
    np.testing.assert_allclose((gate(x, h) * u)[0].detach(), v, rtol=1e-5)
    for weight in gate.parameters():
        nn.init.zeros_(weight)
    assert (gate(x, h) * u).tolist() == [[5, -2]]  # σ(0) = 1/2
    nn.init.constant_(gate.W.bias, -100)
    assert (gate(x, h) * u).abs().max() < 1e-30, "forgotten"


def test_row_15_independent_gates_add_and_coupled_gates_interpolate():
    t, u = torch.tensor(3.0), torch.tensor(5.0)
    truth = {(0, 0): 0, (0, 1): 5, (1, 0): 3, (1, 1): 8}
    for (g1, g2), v in truth.items():
        assert independent_gates(torch.tensor(float(g1)), t, torch.tensor(float(g2)), u) == v
    assert [coupled_gates(torch.tensor(g), t, u).item() for g in (0.0, 0.5, 1.0)] == [5, 4, 3]
    # An LSTM with coupled gates is one whose i is 1 - f; and 1 - σ(a) = σ(-a).
    ours, theirs = filled(CoupledLSTM(3, 4)), LSTM(3, 4).double()
    for mine, whole in ((ours.W, theirs.W), (ours.U[0], theirs.U[0]), (ours.b, theirs.b)):
        f, z, o = mine.data.chunk(3)
        whole.data.copy_(torch.cat([-f, f, z, o]))
    xs = random(2, 5, 3)
    close(scan(ours, xs)[0], scan(theirs, xs)[0])


def lstm_by_hand(cell, xs, *, bounded=False):
    """h_1 … h_n and c_n, by the formulas of the lectures in numpy."""
    W, U, b = weights(cell)
    h = c = np.zeros((len(xs), cell.output_size))
    hs = []
    for x in xs.numpy().swapaxes(0, 1):
        a = {gate: x @ W[gate].T + h @ U[gate].T + b[gate] for gate in "ifzo"}
        i, f, o, z = sigmoid(a["i"]), sigmoid(a["f"]), sigmoid(a["o"]), np.tanh(a["z"])
        c = f * c + i * z
        c = np.tanh(c) if bounded else c
        h = o * c if bounded else o * np.tanh(c)
        hs.append(h)
    return np.stack(hs, 1), c


@pytest.mark.parametrize("executor", DENSE_EXECUTORS)
def test_row_16_the_lstm_without_biases(executor):
    """By every executor: a kernel of PyTorch's alone would be right whatever the formula says."""
    cell, xs = filled(LSTM(3, 4, bias=False)), random(2, 5, 3)
    hs, c = lstm_by_hand(cell, xs)
    ys, state = scan(cell, xs, executor=executor)
    close(ys, hs)
    close(state.c, c)
    assert count_parameters(cell) == 4 * (3 * 4 + 4 * 4)


@pytest.mark.parametrize("executor", DENSE_EXECUTORS)
def test_row_17_the_lstm_with_biases(executor):
    theirs = nn.LSTM(3, 4, batch_first=True).double()
    ours = RNN(LSTM(3, 4)).double()
    assert weights(ours.cell)[2]["f"].tolist() == [1.0] * 4
    assert not np.concatenate([weights(ours.cell)[2][gate] for gate in "izo"]).any()
    from_torch(ours, theirs.state_dict())
    xs = random(2, 5, 3)
    (ys, state), (expected, (h, c)) = scan(ours.cell, xs, executor=executor), theirs(xs)
    close(ys, expected)
    close(state.h, h[0])
    close(state.c, c[0])
    close(ys, lstm_by_hand(ours.cell, xs)[0])


def test_row_18_the_lstm_whose_memory_is_squashed():
    cell, xs = filled(BoundedLSTM(3, 4)), 3 * random(2, 40, 3)
    hs, c = lstm_by_hand(cell, xs, bounded=True)
    ys, state = scan(cell, xs)
    close(ys, hs)
    close(state.c, c)
    assert state.c.abs().max() < 1
    nn.init.constant_(cell.b, 20)  # all gates open, z = 1: an LSTM would count to 40 + 1
    counting = LSTM(3, 4).double()
    counting.load_state_dict(cell.state_dict())
    assert scan(counting, 0 * xs)[1].c.min() > 39
    assert scan(cell, 0 * xs)[1].c.max() < 1


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
def test_row_19_cell_dimension_and_hidden_dimension_are_named_apart():
    cell = ProjectedLSTM(3, 2, cell_size=6).double()
    theirs = nn.LSTM(3, 6, proj_size=2, batch_first=True).double()
    theirs.load_state_dict(to_torch(RNN(cell)))
    xs = random(2, 5, 3)
    (ys, state), (expected, (_, c)) = scan(cell, xs), theirs(xs)
    close(ys, expected)
    close(state.c, c[0])
    assert (state.h.shape, state.c.shape) == ((2, 2), (2, 6))


@pytest.mark.parametrize(("make", "phi"), [(GRU, np.tanh), (ReLUGRU, lambda a: np.maximum(a, 0))])
def test_row_20_the_gru_resets_before_the_product(make, phi):
    cell, xs = filled(make(3, 4)), random(2, 5, 3)
    W, U, b = weights(cell)
    h = np.zeros((2, 4))
    ys, _ = scan(cell, xs)
    for t, x in enumerate(xs.numpy().swapaxes(0, 1)):
        r = sigmoid(x @ W["r"].T + h @ U["r"].T + b["r"])
        z = sigmoid(x @ W["z"].T + h @ U["z"].T + b["z"])
        candidate = phi(x @ W["n"].T + (r * h) @ U["n"].T + b["n"])
        h = z * h + (1 - z) * candidate
        close(ys[:, t], h)


def test_row_21_the_gru_that_resets_after_the_product_is_torchs():
    theirs, ours = nn.GRU(3, 4, batch_first=True).double(), RNN(filled(ResetAfterGRU(3, 4)))
    xs = random(2, 5, 3)
    theirs.load_state_dict(to_torch(ours))
    close(ours(xs)[0], theirs(xs)[0])
    for weight in theirs.parameters():
        nn.init.normal_(weight)
    from_torch(ours, theirs.state_dict())
    close(ours(xs)[0], theirs(xs)[0])


def test_row_22_either_convention_of_z():
    cell, flipped, xs = filled(GRU(3, 4)), FlippedGRU(3, 4).double(), random(2, 5, 3)
    flipped.load_state_dict(cell.state_dict())
    for rows in (flipped.W, flipped.U[0], flipped.b):  # σ(-a) = 1 - σ(a)
        rows.data[4:8] *= -1
    close(scan(flipped, xs)[0], scan(cell, xs)[0])
    state = State(h=random(2, 4))
    for kind, sign in ((cell, 1), (flipped, -1)):
        nn.init.constant_(kind.b, sign * 100)  # z = 1 keeps h here, z = 0 there
        close(scan(kind, xs, state=state)[0][:, -1], state.h)


def test_row_23_every_gate_and_state_of_every_step_can_be_looked_at():
    cell, xs = filled(LSTM(3, 4)), random(2, 5, 3)
    W, U, b = weights(cell)
    seen = trace_gates(cell, xs)
    assert set(seen) == set("ifzohc")
    h, c = np.zeros((2, 4)), np.zeros((2, 4))
    for t, x in enumerate(xs.numpy().swapaxes(0, 1)):
        for gate, squash in {"i": sigmoid, "f": sigmoid, "z": np.tanh, "o": sigmoid}.items():
            expected = squash(x @ W[gate].T + h @ U[gate].T + b[gate])
            np.testing.assert_allclose(seen[gate][:, t], expected, rtol=1e-10)
        c = seen["f"][:, t] * c + seen["i"][:, t] * seen["z"][:, t]
        h = seen["o"][:, t] * np.tanh(c)
        np.testing.assert_allclose(seen["c"][:, t], c, rtol=1e-10)
        np.testing.assert_allclose(seen["h"][:, t], h, rtol=1e-10)


@given(st.integers(1, 60), st.integers(1, 60))
def test_row_24_an_lstm_has_4h_d_plus_h_plus_1_parameters(d, h):
    assert count_parameters(LSTM(300, 32)) == 42_624
    assert count_parameters(LSTM(d, h)) == 4 * h * (d + h + 1)
    assert sum(p.numel() for p in nn.LSTM(d, h).parameters()) == 4 * h * (d + h + 2)


def test_row_25_gated_cells_remember_what_a_simple_one_forgets():
    small = Comparison(steps=10, memory_updates=200, words=200, little_updates=40)
    elman, gru, lstm = small.run(["elman", "gru", "lstm"])
    assert elman.memory < 50 < 80 < min(gru.memory, lstm.memory)
    assert min(r.little_data for r in (elman, gru, lstm)) > 60  # chance is 50
    assert gru.parameters == 3 * elman.parameters
    assert lstm.parameters == 4 * elman.parameters


def test_row_26_stacked_rnns():
    theirs = nn.LSTM(3, 4, num_layers=3, batch_first=True).double()
    ours = RNN(Stacked([LSTM(3, 4), LSTM(4, 4), LSTM(4, 4)])).double()
    from_torch(ours, theirs.state_dict())
    xs = random(2, 5, 3)
    close(ours(xs)[0], theirs(xs)[0])
    # Layers of different widths and kinds: each reads what the one below wrote.
    cells = [filled(cell) for cell in (LSTM(3, 6), GRU(6, 2), Elman(2, 5))]
    states, inputs = [cell.initial(xs) for cell in cells], xs.unbind(1)
    ys, _ = scan(Stacked(cells), xs)
    for t, x in enumerate(inputs):
        for k, cell in enumerate(cells):
            states[k], x = cell(states[k], x)
        close(ys[:, t], x)
