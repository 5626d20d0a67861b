"""How many numbers a cell trains, by closed forms and by torch."""

import pytest
from torch import nn

from elman.cells import (
    GRU,
    LSTM,
    BoundedLSTM,
    CoupledLSTM,
    Elman,
    FlippedGRU,
    LayerNormLSTM,
    PeepholeLSTM,
    ProjectedLSTM,
    ReLUElman,
    ReLUGRU,
    ResetAfterGRU,
    Stacked,
    WeightDrop,
    count_parameters,
)

d, h, c = 5, 7, 9

COUNTS = {
    Elman: h * (d + h + 1),
    ReLUElman: h * (d + h + 1),
    LSTM: 4 * h * (d + h + 1),
    BoundedLSTM: 4 * h * (d + h + 1),
    CoupledLSTM: 3 * h * (d + h + 1),
    PeepholeLSTM: 4 * h * (d + h + 1) + 3 * h,
    LayerNormLSTM: 4 * h * (d + h) + 2 * 5 * h,
    GRU: 3 * h * (d + h + 1),
    ReLUGRU: 3 * h * (d + h + 1),
    FlippedGRU: 3 * h * (d + h + 1),
    ResetAfterGRU: 3 * h * (d + h + 1) + h,
}


@pytest.mark.parametrize("make", COUNTS)
def test_one_bias_a_gate_and_one_matrix_a_gate(make):
    assert count_parameters(make(d, h)) == COUNTS[make]


@pytest.mark.parametrize("make", [Elman, LSTM, GRU])
def test_without_bias_it_has_one_number_less_a_gate_and_unit(make):
    gates = len(make(d, h).formula.gates)
    assert count_parameters(make(d, h, bias=False)) == COUNTS[make] - gates * h


def test_a_projection_costs_one_matrix_and_makes_the_others_smaller():
    assert count_parameters(ProjectedLSTM(d, h, cell_size=c)) == 4 * c * (d + h + 1) + h * c


@pytest.mark.parametrize(("ours", "theirs"), [(Elman, nn.RNN), (LSTM, nn.LSTM), (ResetAfterGRU, nn.GRU)])
def test_torch_has_a_second_bias_for_every_gate(ours, theirs):
    extra = len(ours(d, h).formula.gates) * h - (h if ours is ResetAfterGRU else 0)
    assert count_parameters(theirs(d, h)) == count_parameters(ours(d, h)) + extra
    assert count_parameters(theirs(d, h, bias=False)) == count_parameters(ours(d, h, bias=False))


def test_cells_around_cells_add_nothing():
    assert count_parameters(WeightDrop(LSTM(d, h), 0.5)) == COUNTS[LSTM]
    assert count_parameters(Stacked([LSTM(d, h), GRU(h, h)])) == COUNTS[LSTM] + 3 * h * (2 * h + 1)


def test_what_is_frozen_is_not_counted():
    cell = Elman(d, h)
    cell.W.requires_grad_(False)
    assert count_parameters(cell) == h * h + h
