"""Layers that read pieces side by side give what one layer after the other gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import GRU, LSTM, Dropout, Mogrifier, WeightDrop
from elman.layers.rnn import RNN, Layers
from elman.layers.wavefront import abreast, diagonals
from elman.state import leaves


@given(st.integers(1, 5), st.integers(1, 7))
def test_every_pair_comes_once_and_after_those_it_waits_for(layers, pieces):
    order = list(diagonals(layers, pieces))
    assert sorted(order) == [(layer, piece) for layer in range(layers) for piece in range(pieces)]
    done = set()
    for layer, piece in order:
        assert layer == 0 or (layer - 1, piece) in done
        assert piece == 0 or (layer, piece - 1) in done
        done.add((layer, piece))


@pytest.mark.parametrize("begun", [False, True], ids=["from zero", "from a state"])
@pytest.mark.parametrize("steps", [1, 4, 5, 12])
def test_pieces_side_by_side_are_the_whole(steps, begun):
    torch.manual_seed(0)
    cells = [GRU(3, 4), Mogrifier(LSTM(4, 5), rounds=2), LSTM(5, 2)]
    layers = Layers([RNN(cell) for cell in cells]).double()
    xs = torch.randn(2, steps, 3, dtype=torch.float64, requires_grad=True)
    state = layers(xs)[1] if begun else None
    whole = layers(xs, None, state)
    ours = abreast(cells, xs, state or [None] * 3)
    results = []
    for ys, final in (whole, ours):
        loss = ys.square().sum() + sum(t.sin().sum() for _, t in leaves(final))
        gradients = torch.autograd.grad(loss, [xs, *layers.parameters()], retain_graph=True)
        results.append([ys, *(t for _, t in leaves(final)), *gradients])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


def test_the_dice_are_thrown_once_for_all_pieces():
    torch.manual_seed(0)
    cells = [Dropout(WeightDrop(LSTM(3, 8), 0.5), 0.5), Dropout(WeightDrop(LSTM(8, 8), 0.5), 0.5)]
    torch.manual_seed(1)
    ys, _ = abreast(cells, torch.randn(2, 10, 3), [None, None])
    dropped = ys == 0
    assert 0 < dropped.float().mean() < 1
    assert (dropped == dropped[:, :1]).all()
