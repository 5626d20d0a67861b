"""Cells that cannot be built or stepped say why, in one sentence."""

import pytest
import torch

from elman.cells import (
    GRU,
    LSTM,
    Dropout,
    Elman,
    FormulaCell,
    MinGRU,
    ProjectedLSTM,
    Residual,
    Stacked,
    WeightDrop,
    Zoneout,
    get_cell,
)
from elman.errors import ArgumentError, ConfigError, ElmanError, ModelError


def said(kind: type[ElmanError], action) -> str:
    with pytest.raises(kind) as refused:
        action()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_stack_needs_a_cell():
    assert said(ModelError, lambda: Stacked([])) == "a stack needs at least one cell"


def test_widths_in_a_stack_meet():
    assert said(ModelError, lambda: Stacked([GRU(3, 4), Elman(5, 2)])) == (
        "a cell that reads 5 features cannot stand on one that writes 4"
    )


@pytest.mark.parametrize("size", [2**31, 2**40])
def test_a_size_is_a_whole_number_that_a_tensor_can_have(size):
    for name, sizes in (("input_size", (size, 1)), ("hidden_size", (1, size))):
        sentence = said(ArgumentError, lambda sizes=sizes: GRU(*sizes))
        assert sentence.startswith(f"{name} is ")
        assert sentence.endswith("it must be a whole number below 2^31")


def test_a_residual_cell_writes_what_it_reads():
    assert said(ModelError, lambda: Residual(LSTM(3, 4))) == (
        "a residual cell writes as many features as it reads, not 4 from 3"
    )


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, float("nan")])
@pytest.mark.parametrize("make", [Dropout, WeightDrop, Zoneout])
def test_a_probability_lies_between_zero_and_one(make, p):
    assert said(ModelError, lambda: make(LSTM(3, 4), p)) == (f"a dropout probability lies in [0, 1), got {p}")


@pytest.mark.parametrize("make", [Dropout, WeightDrop])
def test_a_mask_that_lasts_a_sequence_is_not_drawn_by_a_step(make):
    cell = make(LSTM(3, 4), 0.5)
    x = torch.zeros(2, 3)
    assert said(ModelError, lambda: cell(cell.initial(x), x)) == (
        "one mask lasts a sequence: step over cell.sample_masks(xs), or cell.eval()"
    )
    for way in (cell.sample_masks(x), cell.eval()):
        assert way(way.initial(x), x)[1].shape == (2, 4)


@pytest.mark.parametrize("make", [Dropout, WeightDrop])
def test_no_dropout_needs_no_mask(make):
    cell = make(LSTM(3, 4), 0.0)
    assert cell.training
    x = torch.zeros(2, 3)
    assert cell(cell.initial(x), x)[1].shape == (2, 4)


@pytest.mark.parametrize("p", [{"h": 0.1}, {"h": 0.1, "c": 0.1, "d": 0.1}])
def test_zoneout_wants_a_probability_for_each_state(p):
    assert said(ModelError, lambda: Zoneout(LSTM(3, 4), p)) == ("zoneout needs a probability for each of h, c")


def test_zoneout_is_not_put_around_itself():
    assert said(ModelError, lambda: Zoneout(Zoneout(GRU(3, 4), 0.1), 0.1)) == (
        "the formula 'zoneout_gru' has masks of its own already"
    )


@pytest.mark.parametrize("sizes", [(0, 4), (3, 0), (3, -1)])
def test_sizes_are_positive(sizes):
    sentence = said(ModelError, lambda: Elman(*sizes))
    assert sentence.startswith(f"sizes must be positive, got {sizes[0]}")


def test_a_projection_makes_smaller():
    assert said(ModelError, lambda: ProjectedLSTM(3, 4, cell_size=2)) == (
        "a projection makes h smaller than c, but hidden_size is 4 and cell_size 2"
    )


def test_heads_share_the_units_equally():
    for heads in (0, 3):
        refusal = f"4 units cannot be shared equally among {heads} heads"
        assert said(ModelError, lambda heads=heads: LSTM(3, 4, heads=heads)) == refusal
    assert said(ModelError, lambda: FormulaCell(MinGRU.formula, 3, 4, heads=2)) == (
        "min_gru has no recurrent matrix to divide among heads"
    )


def test_an_unknown_cell_names_the_nearest_or_all():
    assert said(ConfigError, lambda: get_cell("lstmm")) == "unknown cell 'lstmm'; did you mean 'lstm'?"
    assert said(ConfigError, lambda: get_cell("x")).startswith("unknown cell 'x'; there are elman, relu, ")
