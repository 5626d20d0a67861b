"""Steps of a few rows in C++: those of the cell itself, whatever its formula, and nothing else."""

import subprocess
import sys

import pytest
import torch

from elman.cells import GRU, LSTM, Dropout, FormulaCell, Mogrifier, Residual, Stacked, Zoneout
from elman.kernels.few_rows import unsupported_reason
from elman.scan import explain, scan
from elman.scan.few_steps import find_steps
from elman.scan.single_step import can_step, step_cell
from elman.state import leaves, map_state
from tests import zoo

needs_library = pytest.mark.skipif(unsupported_reason() is not None, reason="no library")
SIZES = {"lstm": lambda: LSTM(40, 37), "gru": lambda: GRU(16, 48), "odd": lambda: FormulaCell(zoo.odd, 9, 33)}
CELLS = {
    **SIZES,
    "zoneout": lambda: Zoneout(LSTM(8, 40), 0.3),
    "mogrifier": lambda: Mogrifier(LSTM(24, 36), rounds=3),
    "scaled": lambda: FormulaCell(zoo.scaled, 5, 35),
    "summed": lambda: FormulaCell(zoo.summed, 5, 32),
    "plain": lambda: FormulaCell(zoo.plain, 5, 32),
    "heads": lambda: LSTM(8, 32, heads=2),
    "stack": lambda: Stacked([Dropout(LSTM(7, 34), 0.5), Residual(GRU(34, 34))]),
}


def make(name, rows=2, steps=5):
    torch.manual_seed(0)
    cell = CELLS[name]().eval()
    xs = torch.randn(rows, steps, cell.input_size)
    return cell, xs, map_state(torch.randn_like, cell.initial(xs))


def assert_near(found, cell, expected):
    for (path, a), (_, b) in zip(leaves(found), leaves(expected), strict=True):
        torch.testing.assert_close(a.double(), b, rtol=1e-5, atol=1e-5, msg=path)


@torch.no_grad()
@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("name", CELLS)
def test_a_step_is_that_of_the_cell_in_float64(name, rows):
    cell, xs, state = make(name, rows)
    new, y = step_cell(cell, state, xs[:, 0])
    wide = cell.double()
    expected = wide.step(map_state(torch.Tensor.double, state), wide.project(xs[:, 0].double()))
    assert_near((new, y), cell, (expected, wide.output(expected)))


@torch.no_grad()
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", CELLS)
def test_a_short_text_is_read_as_the_loop_reads_it(name, reverse):
    cell, xs, state = make(name)
    found = scan(cell, xs, torch.ones(2, 5, dtype=torch.bool), state, reverse=reverse)
    wide, state = cell.double(), map_state(torch.Tensor.double, state)
    assert_near(found, cell, scan(wide, xs.double(), None, state, reverse=reverse, executor="loop"))


@needs_library
@pytest.mark.parametrize("name", [*SIZES, "zoneout", "mogrifier", "scaled", "summed", "plain"])
def test_any_pointwise_formula_has_a_library(name):
    assert find_steps(make(name)[0]) is not None


@needs_library
def test_one_library_is_for_all_sizes():
    narrow, wide = LSTM(3, 33), LSTM(5, 64)
    assert find_steps(narrow).function is not None
    assert find_steps(narrow).scratch < find_steps(wide).scratch
    assert find_steps(LSTM(3, 4)) is None  # too small to be worth one


@needs_library
def test_what_is_not_short_or_wants_gradients_runs_elsewhere():
    cell, xs, _ = make("gru")
    ragged = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    with torch.no_grad():
        assert str(explain(cell, xs)).startswith("gru 16 -> 48: few (dense: ")
        assert explain(cell, xs, ragged).choices[0].executor != "few"
        assert explain(cell, xs.repeat(20, 1, 1)).choices[0].executor != "few"
        assert explain(cell, xs, executor="loop").choices[0].executor == "loop"
    assert explain(cell, xs).choices[0].executor != "few"


def test_steps_without_gradients_are_for_evaluation_only():
    cell, _, _ = make("stack")
    assert not can_step(cell, 1)
    with torch.no_grad():
        assert can_step(cell, 1)
        assert not can_step(cell, 10_000)
        assert not can_step(cell.train(), 1)
        with torch.autocast("cpu", torch.bfloat16):
            assert not can_step(cell.eval(), 1)


@torch.no_grad()
def test_states_are_values():
    cell, xs, state = make("lstm")
    before = map_state(torch.clone, state)
    new, _ = step_cell(cell, state, xs[:, 0])
    step_cell(cell, new, xs[:, 1])
    for (_, a), (_, b) in zip(leaves(state), leaves(before), strict=True):
        assert torch.equal(a, b)
    again, _ = step_cell(cell, state, xs[:, 0])
    assert torch.equal(again.h, new.h)


def test_a_source_is_the_same_whatever_was_traced_before():
    """Libraries are known by their source: those that come with the package must be found."""
    code = (
        "from elman.cells import {first}, {second}\n"
        "from elman.formula.cpp_steps import print_steps\n"
        "cells = [{first}(3, 4), {second}(3, 4)]\n"
        "printed = sorted(print_steps(c.formula, c.widths) for c in cells)\n"
        "import hashlib; print(hashlib.sha256(repr(printed).encode()).hexdigest())\n"
    )
    orders = ({"first": "LSTM", "second": "GRU"}, {"first": "GRU", "second": "LSTM"})
    runs = [subprocess.run([sys.executable, "-c", code.format(**o)], capture_output=True) for o in orders]
    assert runs[0].stdout == runs[1].stdout != b""
