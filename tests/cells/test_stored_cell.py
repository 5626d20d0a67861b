"""A formula cell as plain data: what is read back is the same cell, and what is no cell is refused."""

import copy

import pytest

from elman.cells import GRU, LSTM, FormulaCell, MinGRU
from elman.cells.stored_cell import cell_to_data, read_cell
from elman.errors import FormulaError

DATA = cell_to_data(lambda d, h: GRU(d, h))


@pytest.mark.parametrize("kind", [GRU, LSTM, MinGRU])
def test_a_stored_cell_has_the_shapes_of_its_class(kind):
    again, plain = read_cell(cell_to_data(lambda d, h: kind(d, h)))(3, 8), kind(3, 8)
    assert again.widths == plain.widths
    shapes = [[tuple(p.shape) for p in cell.parameters()] for cell in (again, plain)]
    assert shapes[0] == shapes[1]


class LongMemory(FormulaCell):
    """A class that chooses the first value of a bias, and is built as all formula cells are."""

    def init_units(self):
        self.init_gate_bias("f", 3.0)


@pytest.mark.parametrize(("kind", "own"), [(FormulaCell, False), (LongMemory, True)])
def test_it_is_stored_whether_a_class_chooses_its_first_weights(kind, own):
    assert cell_to_data(lambda d, h: kind(LSTM.formula, d, h))["own_start"] is own


@pytest.mark.parametrize(
    "widths",
    [
        None,
        {},
        {"h": [1, 0]},
        {"": [1, 0], "nobody": [1, 0]},
        {"": [1]},
        {"": [1.0, 0]},
        {"": [-1, 0]},
        {"": [1, 1 << 20]},
    ],
)
def test_widths_that_no_cell_has_are_refused(widths):
    with pytest.raises(FormulaError, match="width"):
        read_cell({**copy.deepcopy(DATA), "widths": widths})


@pytest.mark.parametrize("heads", [0, -1, 1 << 20, 2.0, True, "2", None])
def test_heads_that_no_cell_has_are_refused(heads):
    with pytest.raises(FormulaError, match=r"a stored cell has .* heads"):
        read_cell({**copy.deepcopy(DATA), "heads": heads})
    assert read_cell({**copy.deepcopy(DATA), "heads": 1})


@pytest.mark.parametrize("key", ["bias", "own_start"])
@pytest.mark.parametrize("value", [0, 1, None, "true", [True]])
def test_what_is_neither_true_nor_false_is_refused(key, value):
    with pytest.raises(FormulaError, match="are true or false"):
        read_cell({**copy.deepcopy(DATA), key: value})


def test_the_largest_width_can_be_read():
    assert read_cell({**copy.deepcopy(DATA), "widths": {"": [1, (1 << 20) - 1]}})


def test_a_cell_prints_its_sizes():
    assert "3 -> h=4, c=4" in repr(LSTM(3, 4))
    assert "2 -> h=4, heads=2" in repr(GRU(2, 4, heads=2))
