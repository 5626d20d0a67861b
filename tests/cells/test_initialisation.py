"""How cells begin: an orthogonal recurrence, Glorot input weights, an open forget gate."""

import math

import pytest
import torch

from elman.cells import (
    CELLS,
    GRU,
    HGRN,
    LSTM,
    RGLRU,
    SLSTM,
    SRU,
    CoupledLSTM,
    Elman,
    FormulaCell,
    IndRNN,
    LayerNormLSTM,
    ParaGRU,
    PeepholeLSTM,
    ProjectedLSTM,
    ResetAfterGRU,
)

D, H = 6, 8
RECURRENT = [name for name in CELLS if CELLS[name](2, 2).formula.trace.products]
FORGETFUL = [LSTM, CoupledLSTM, PeepholeLSTM, CELLS["bounded-lstm"]]


def blocks(cell: FormulaCell) -> list[torch.Tensor]:
    """The recurrent matrix of each gate by itself, of each head by itself."""
    found = []
    for product, U in zip(cell.formula.trace.products, cell.U, strict=True):
        each = [cell.widths[n] // cell.heads for n in product.names]
        for head in U.detach() if cell.heads > 1 else [U.detach()]:
            found += head.split(each)
    return found


def is_orthogonal(block: torch.Tensor) -> bool:
    """Do its rows, or its columns where it has fewer, have unit length and right angles?"""
    tall = block if block.shape[0] <= block.shape[1] else block.t()
    return torch.allclose(tall @ tall.t(), torch.eye(len(tall)), atol=1e-5)


@pytest.mark.parametrize("name", RECURRENT)
def test_the_recurrence_is_orthogonal_gate_by_gate(name):
    cell = CELLS[name](D, H)
    assert len(blocks(cell)) >= len(cell.formula.gates)
    assert all(map(is_orthogonal, blocks(cell)))


@pytest.mark.parametrize("make", [Elman, LSTM, GRU, ResetAfterGRU, SLSTM])
def test_the_recurrence_of_heads_is_orthogonal_head_by_head(make):
    cell = make(D, H, heads=2)
    assert len(blocks(cell)) == 2 * len(cell.formula.gates)
    assert all(map(is_orthogonal, blocks(cell)))


@pytest.mark.parametrize("make", [Elman, LSTM, GRU, ResetAfterGRU, LayerNormLSTM])
def test_the_recurrence_can_be_uniform_instead(make):
    cell = make(D, H, orthogonal=False)
    for block in blocks(cell):
        assert not is_orthogonal(block)
        assert block.abs().max() <= 1 / math.sqrt(H)


@pytest.mark.parametrize("name", CELLS)
def test_input_weights_fill_the_bounds_of_glorot_gate_by_gate(name):
    cell = CELLS[name](40, 60)
    gates = cell.W.detach().chunk(len(cell.formula.gates))
    for block in gates:
        bound = math.sqrt(6 / (block.shape[0] + block.shape[1]))
        assert 0.95 * bound < block.abs().max() <= bound


@pytest.mark.parametrize("make", FORGETFUL)
def test_the_forget_gate_starts_open_and_other_biases_at_zero(make):
    cell = make(D, H)
    biases = dict(zip(cell.formula.gates, cell.b.detach().chunk(len(cell.formula.gates)), strict=True))
    assert (biases.pop("f") == 1).all()
    assert not any(b.any() for b in biases.values())


@pytest.mark.parametrize("make", FORGETFUL)
def test_the_forget_bias_can_be_switched_off_or_set(make):
    assert not make(D, H, forget_bias=0.0).b.any()
    assert make(D, H, forget_bias=2.0).b.sum() == 2 * H
    assert make(D, H, bias=False).b is None


def test_a_projected_memory_is_remembered_too():
    cell = ProjectedLSTM(D, 4, cell_size=H)
    assert cell.b.sum() == H
    assert [tuple(U.shape) for U in cell.U] == [(4 * H, 4), (4, H)]


def test_a_normed_lstm_begins_with_its_gains_at_one_and_its_forget_gate_open():
    cell = LayerNormLSTM(D, H)
    first = {n: p.detach() for n, p in zip(cell.formula.parameters, cell.p, strict=True)}
    assert cell.b is None
    assert all((first[f"g{gate}"] == 1).all() for gate in "ifzoc")
    assert (first["bf"] == 1).all()
    assert not any(first[f"b{gate}"].any() for gate in "izoc")


def test_peepholes_begin_closed():
    assert not any(p.any() for p in PeepholeLSTM(D, H).p)


def test_the_forget_gates_of_an_slstm_begin_between_three_and_six():
    i, f, z, o = SLSTM(D, H).b.detach().chunk(4)
    torch.testing.assert_close(f, torch.linspace(3, 6, H))
    assert not any(b.any() for b in (i, z, o))


def test_an_rg_lru_begins_with_decays_between_nine_tenths_and_one():
    decay = torch.sigmoid(RGLRU(D, 500).p[0].detach()) ** 8
    assert 0.9 <= decay.min() < 0.91
    assert 0.99 < decay.max() <= 0.9991


def test_the_bounds_of_an_hgrn_begin_evenly():
    torch.testing.assert_close(torch.sigmoid(HGRN(D, 50).p[0].detach()), torch.linspace(0.01, 0.99, 50))


def test_the_weights_of_single_units_begin_uniform():
    u = IndRNN(D, 500).p[0]
    assert 0 <= u.min() < 0.1
    assert 0.9 < u.max() <= 1
    assert all(1 < p.abs().max() <= 1.5**0.5 for p in SRU(D, 500).p)
    assert all(-1 <= p.min() < -0.9 and 0.9 < p.max() <= 1 for p in ParaGRU(D, 500).p)


def test_the_seed_decides():
    def make(seed):
        torch.manual_seed(seed)
        return LSTM(D, H)

    same, again, other = make(1), make(1), make(2)
    assert torch.equal(same.W, again.W)
    assert torch.equal(same.U[0], again.U[0])
    assert not torch.equal(same.W, other.W)
