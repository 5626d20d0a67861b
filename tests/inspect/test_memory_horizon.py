"""How far back a unit remembers, where it is known on paper."""

from math import floor, log

import numpy as np
import pytest
import torch

from elman.cells import GRU, Elman, FormulaCell, Stacked
from elman.formula import Gates, Matrices, State, formula
from elman.inspect.memory_horizon import LayerMemory, layer_memory, text_memory, unit_influence
from elman.layers.rnn import RNN, BiRNN, StackedRNN
from tests.inspect.models import SENTENCE, lm, tagger


@formula(gates="h", parameters="a")
def leaky(x: Gates, U: Matrices, s: State, p: Gates) -> State:
    """h' = a h + W x: what was read k steps before is left as a^k."""
    return State(h=p.a * s.h + x.h)


def leaking(rates):
    cell = FormulaCell(leaky, 3, len(rates)).double()
    cell.p[0].data = torch.tensor(rates, dtype=torch.float64)
    return cell


def test_a_unit_that_leaks_remembers_until_a_tenth_is_left():
    rates = [0.2, 0.5, 0.9, 1.0]
    (memory,) = layer_memory(RNN(leaking(rates)), torch.randn(1, 60, 3, dtype=torch.float64))
    np.testing.assert_allclose(memory.relative, np.power.outer(rates, np.arange(60)).reshape(4, 60), atol=1e-9)
    assert memory.horizons.tolist() == [*(floor(log(0.1) / log(a)) for a in rates[:3]), 59]
    assert (memory.longest, memory.name) == (59, "layer 1 forward")


def test_gradients_are_those_of_one_output_by_one_input():
    torch.manual_seed(0)
    cell, xs = GRU(3, 4).double(), torch.randn(1, 2, 3, dtype=torch.float64)
    ys = torch.autograd.functional.jacobian(lambda x: RNN(cell)(x)[0][0], xs)[:, :, 0]  # (T, H, T, D)
    found = unit_influence(cell, xs, [1, 3])
    np.testing.assert_allclose(found, ys[1, [1, 3]].norm(dim=-1).flip(1), rtol=1e-9)


def test_a_layer_that_reads_from_the_end_remembers_what_is_ahead():
    cells = leaking([0.5]), leaking([0.9])
    found = layer_memory(RNN(Stacked([cells[0]])), torch.ones(1, 50, 3).double())
    both = layer_memory(StackedRNN([BiRNN(*cells)]), torch.ones(1, 50, 3).double(), part="encoder")
    assert found[0].horizons.tolist() == [3]
    assert [(m.name, m.direction, m.horizons.tolist()) for m in both] == [
        ("encoder layer 1 forward", "forward", [3]),
        ("encoder layer 1 backward", "backward", [21]),
    ]


def test_of_a_long_text_the_last_200_tokens_are_measured_and_of_a_wide_layer_256_units():
    rnn = RNN(Elman(2, 300))
    xs = torch.randn(1, 230, 2)
    (memory,) = layer_memory(rnn, xs)
    assert memory.influence.shape == (256, 200)
    assert (memory.units[0], memory.units[-1], memory.longest) == (0, 299, 199)
    (end,) = layer_memory(rnn, xs[:, -200:])
    np.testing.assert_array_equal(memory.influence, end.influence)
    (short,) = layer_memory(RNN(Elman(2, 5)), xs[:, :3])
    assert (short.units, short.longest) == ([0, 1, 2, 3, 4], 2)


def test_a_unit_that_nothing_reaches_remembers_nothing():
    assert LayerMemory("layer", [0], np.zeros((1, 5))).horizons.tolist() == [0]


@pytest.mark.parametrize(("make", "text", "layers"), [(lm, "Once upon", 1), (tagger, SENTENCE, 2)])
def test_every_layer_that_reads_a_text_is_measured(make, text, layers):
    found = text_memory(make("softmax") if make is tagger else make(), text)
    assert len(found) >= layers
    for memory in found:
        assert memory.influence.shape[0] == len(memory.units)
        assert ((memory.horizons >= 0) & (memory.horizons <= memory.longest)).all()
