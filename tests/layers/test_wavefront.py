"""Layers that read pieces side by side give what one layer after the other gives."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells import GRU, LSTM, Dropout, Mogrifier, WeightDrop
from elman.layers import wavefront
from elman.layers.rnn import RNN, BiRNN, Layers
from elman.layers.wavefront import abreast, diagonals
from elman.recording import recording
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


def made(*cells):
    return Layers([RNN(cell) for cell in cells])


def mogrified(size, width):
    return Dropout(Mogrifier(WeightDrop(LSTM(size, width), 0.5), rounds=2), 0.2)


def test_layers_go_side_by_side_where_that_pays(monkeypatch):
    """On a CPU nothing is gained; here it is done all the same."""
    asked = []
    monkeypatch.setattr(wavefront, "pays", lambda cells, xs: asked.append(len(cells)) or True)
    layers = made(mogrified(3, 4), mogrified(4, 5)).eval()
    xs = torch.randn(2, 9, 3)
    ours, _ = layers(xs)
    monkeypatch.undo()
    torch.testing.assert_close(ours, layers(xs)[0])
    assert asked == [2]


def test_what_pays_is_recorded_and_has_no_kernel_of_its_own():
    class OnGPU(torch.Tensor):
        is_cuda = True

    far, near = torch.zeros(1).as_subclass(OnGPU), torch.zeros(1)
    slow, fast = [mogrified(3, 4), mogrified(4, 4)], [LSTM(3, 4), Dropout(LSTM(4, 4), 0.1)]
    assert not wavefront.pays(slow, far)
    with recording():
        assert wavefront.pays(slow, far)
        assert not wavefront.pays(slow, near)
        assert not wavefront.pays(slow[:1], far)
        assert not wavefront.pays(fast, far)


@pytest.mark.parametrize("mask", [None, torch.ones(2, 4, dtype=torch.bool)], ids=["none", "mask"])
def test_both_directions_and_padding_go_one_after_the_other(monkeypatch, mask):
    asked = []
    monkeypatch.setattr(wavefront, "pays", lambda cells, xs: asked.append(cells) or True)
    layers = made(LSTM(3, 4)) if mask is not None else Layers([BiRNN(LSTM(3, 4), LSTM(3, 4))])
    ys, _ = layers(torch.randn(2, 4, 3), mask)
    assert ys.shape == (2, 4, layers.output_size)
    assert not asked


def test_matrices_are_made_once_for_all_pieces(monkeypatch):
    calls = []
    real = Mogrifier.matrices
    monkeypatch.setattr(Mogrifier, "matrices", lambda cell: calls.append(cell) or real(cell))
    abreast([Mogrifier(LSTM(3, 4)), Mogrifier(LSTM(4, 4))], torch.randn(2, 10, 3), [None, None])
    assert len(calls) == 2
