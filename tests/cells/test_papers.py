"""Cells against their papers' equations, written out in numpy for one sequence."""

import inspect

import numpy as np
import pytest
import torch

from elman.cells import CELLS, GRU, LSTM, SLSTM, IndRNN, MinGRU, MinLSTM
from elman.cells.formulaic import join_heads, multiply_heads, split_heads
from elman.scan import scan
from tests.zoo import cell_of

T, D, H = 6, 3, 4


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def gates_of(cell, xs):
    """W x + b of every gate and step, by name."""
    pre = xs @ cell.W.detach().numpy().T + cell.b.detach().numpy()
    return dict(zip(cell.formula.gates, np.split(pre, len(cell.formula.gates), -1), strict=True))


def units_of(cell):
    return {n: p.detach().numpy() for n, p in zip(cell.formula.parameters, cell.p, strict=True)}


def indrnn(cell, x):
    (u,), h = units_of(cell).values(), np.zeros(H)
    for a in x["h"]:
        h = np.maximum(0, a + u * h)
        yield h


def mingru(cell, x):
    h = np.zeros(H)
    for z, candidate in zip(sigmoid(x["z"]), x["n"], strict=True):
        h = (1 - z) * h + z * candidate
        yield h


def minlstm(cell, x):
    h = np.zeros(H)
    for f, i, candidate in zip(sigmoid(x["f"]), sigmoid(x["i"]), x["n"], strict=True):
        h = f / (f + i) * h + i / (f + i) * candidate
        yield h


def rg_lru(cell, x):
    a, h = sigmoid(units_of(cell)["a"]), np.zeros(H)
    for r, i, v in zip(sigmoid(x["r"]), sigmoid(x["i"]), x["v"], strict=True):
        decay = a ** (8 * r)
        h = decay * h + np.sqrt(1 - decay**2) * (i * v)
        yield h


def sru(cell, x):
    p, c = units_of(cell), np.zeros(H)
    for t in range(T):
        f, r = (sigmoid(x[g][t] + p[g] * c) for g in "fr")
        c = f * c + (1 - f) * x["z"][t]
        yield r * c + (1 - r) * x["v"][t]


def qrnn(cell, x):
    """A convolution over two tokens, zeros before the first, then fo-pooling."""
    c = np.zeros(H)
    before = {g: np.concatenate((np.zeros((1, H)), x[f"{g}1"][:-1])) for g in "zfo"}
    z, f, o = (x[g] + before[g] for g in "zfo")
    for t in range(T):
        c = sigmoid(f[t]) * c + (1 - sigmoid(f[t])) * np.tanh(z[t])
        yield sigmoid(o[t]) * c


def ssru(cell, x):
    c = np.zeros(H)
    for f, z in zip(sigmoid(x["f"]), x["z"], strict=True):
        c = f * c + (1 - f) * z
        yield np.maximum(0, c)


def hgrn(cell, x):
    low, c = sigmoid(units_of(cell)["l"]), np.zeros(H)
    for t in range(T):
        f = low + (1 - low) * sigmoid(x["f"][t])
        c = f * c + (1 - f) * (x["i"][t] * sigmoid(x["i"][t]))
        yield c * (x["g"][t] * sigmoid(x["g"][t]))


def para_gru(cell, x):
    """The GRU of the textbook, its matrices diagonal."""
    U, h = {gate: np.diag(u) for gate, u in units_of(cell).items()}, np.zeros(H)
    for t in range(T):
        z, r = (sigmoid(x[gate][t] + U[gate] @ h) for gate in "zr")
        h = (1 - z) * h + z * np.tanh(x["n"][t] + U["n"] @ (r * h))
        yield h


def slstm(cell, x):
    """Without the stabiliser: exponential gates as they stand in the paper."""
    U = dict(zip("ifzo", np.split(cell.U[0].detach().numpy(), 4), strict=True))
    h, c, n = np.zeros(H), np.zeros(H), np.zeros(H)
    for t in range(T):
        a = {g: x[g][t] + U[g] @ h for g in "ifzo"}
        i, f = np.exp(a["i"]), sigmoid(a["f"])
        c, n = f * c + i * np.tanh(a["z"]), f * n + i
        h = sigmoid(a["o"]) * c / n
        yield h


PAPERS = {
    "indrnn": indrnn,
    "mingru": mingru,
    "minlstm": minlstm,
    "rg-lru": rg_lru,
    "sru": sru,
    "qrnn": qrnn,
    "slstm": slstm,
    "ssru": ssru,
    "hgrn": hgrn,
    "para-gru": para_gru,
}


@pytest.mark.parametrize("executor", ["loop", "auto"])
@pytest.mark.parametrize("name", PAPERS)
def test_a_cell_is_its_papers_equations(name, executor):
    cell, xs = cell_of(name), torch.randn(T, D, dtype=torch.float64)
    expected = np.stack(list(PAPERS[name](cell, gates_of(cell, xs.numpy()))))
    ys, _ = scan(cell, xs[None], executor=executor)
    np.testing.assert_allclose(ys[0].detach(), expected, rtol=1e-10, atol=1e-12)


def layer_norm_lstm(cell, x):
    """Ba et al. (2016), with torch's own normalisation."""
    p, U = units_of(cell), dict(zip("ifzo", np.split(cell.U[0].detach().numpy(), 4), strict=True))

    def norm(a, name):
        gain, shift = torch.tensor(p[f"g{name}"]), torch.tensor(p[f"b{name}"])
        return torch.nn.functional.layer_norm(torch.tensor(a), (H,), gain, shift, eps=1e-5).numpy()

    h, c = np.zeros(H), np.zeros(H)
    for t in range(T):
        i, f, z, o = (norm(x[g][t] + U[g] @ h, g) for g in "ifzo")
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(z)
        h = sigmoid(o) * np.tanh(norm(c, "c"))
        yield h


def peephole_lstm(cell, x):
    """Gers et al. (2000): the gates see the memory, the output gate the new one."""
    p, U = units_of(cell), dict(zip("ifzo", np.split(cell.U[0].detach().numpy(), 4), strict=True))
    h, c = np.zeros(H), np.zeros(H)
    for t in range(T):
        a = {g: x[g][t] + U[g] @ h for g in "ifzo"}
        old = c
        c = sigmoid(a["f"] + p["f"] * old) * old + sigmoid(a["i"] + p["i"] * old) * np.tanh(a["z"])
        h = sigmoid(a["o"] + p["o"] * c) * np.tanh(c)
        yield h


@pytest.mark.parametrize("executor", ["loop", "auto"])
@pytest.mark.parametrize(
    ("name", "paper"), [("layer-norm-lstm", layer_norm_lstm), ("peephole-lstm", peephole_lstm)]
)
def test_a_variant_of_the_lstm_is_its_papers_equations(name, paper, executor):
    cell, xs = cell_of(name), torch.randn(T, D, dtype=torch.float64)
    with torch.no_grad():
        for unit in cell.p:
            unit.normal_()
    pre = xs.numpy() @ cell.W.detach().numpy().T + (0 if cell.b is None else cell.b.detach().numpy())
    gates = dict(zip(cell.formula.gates, np.split(pre, 4, -1), strict=True))
    ys, _ = scan(cell, xs[None], executor=executor)
    np.testing.assert_allclose(ys[0].detach(), np.stack(list(paper(cell, gates))), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", PAPERS)
def test_a_formula_has_at_most_eight_lines(name):
    source = inspect.getsource(inspect.unwrap(CELLS[name](D, H).formula.function))
    decorator, _, *body = source.splitlines()
    assert decorator.startswith("@formula")
    assert len(body) <= 8


def test_the_stabiliser_keeps_an_slstm_in_range():
    """Input gates of exp(500) are numbers still, in single precision."""
    cell = SLSTM(D, H)
    cell.b.data[:H] = 500
    ys, state = scan(cell, torch.randn(2, T, D, requires_grad=True))
    assert ys.isfinite().all()
    assert all(part.isfinite().all() for part in state)
    ys.sum().backward()
    assert cell.W.grad.isfinite().all()


@pytest.mark.parametrize("make", [IndRNN, MinGRU, MinLSTM])
def test_a_cell_without_recurrent_matrices_costs_no_square(make):
    gates = len(make(D, H).formula.gates)
    assert sum(p.numel() for p in make(D, H).parameters()) <= gates * H * (D + 1) + H


@pytest.mark.parametrize("make", [LSTM, GRU, SLSTM])
@pytest.mark.parametrize("executor", ["loop", "auto"])
def test_heads_are_a_block_diagonal_matrix(make, executor):
    """The cell with whole matrices, zero outside the blocks, computes the same."""
    cell, whole = make(D, H, heads=2).double(), make(D, H).double()
    whole.W.data, whole.b.data = cell.W.data, cell.b.data
    for product, blocks, U in zip(cell.formula.trace.products, cell.U, whole.U, strict=True):
        gates = [block.chunk(len(product.names)) for block in blocks.data]
        dense = [torch.block_diag(*(head[g] for head in gates)) for g in range(len(gates[0]))]
        U.data = torch.cat(dense)
    xs = torch.randn(2, T, D, dtype=torch.float64)
    ours, _ = scan(cell, xs, executor=executor)
    torch.testing.assert_close(ours, scan(whole, xs, executor="loop")[0])


def test_heads_are_split_and_joined_again():
    rows = torch.arange(2.0 * 12).reshape(2, 12)
    assert torch.equal(join_heads(split_heads(rows, 2, 3), 3), rows)
    assert split_heads(rows, 2)[1, 0].tolist() == [6, 7, 8, 9, 10, 11]
    assert multiply_heads(rows, torch.eye(6).expand(2, 6, 6), 1).equal(rows)
