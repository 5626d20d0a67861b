"""The gates of layers on layers, in both directions."""

import numpy as np
import pytest
import torch

from elman.cells import GRU, LSTM, Dropout, Stacked, WeightDrop, stack_cells
from elman.errors import ModelError
from elman.inspect.layer_gates import layer_gates, saturation
from elman.layers.rnn import RNN, BiRNN, StackedRNN


def test_the_outputs_of_each_layer_and_direction_are_those_of_the_reference_loop():
    torch.manual_seed(0)
    cells = [Dropout(GRU(3, 4), 0.5), GRU(3, 5), WeightDrop(LSTM(9, 6), 0.5)]
    below = BiRNN(cells[0], cells[1], executor="loop")
    net = StackedRNN([below, RNN(cells[2], executor="loop")]).eval()
    xs = torch.randn(1, 7, 3)
    found = layer_gates(net, xs)
    assert [(g.layer, g.direction) for g in found] == [(1, "forward"), (1, "backward"), (2, "forward")]
    assert [list(g.values) for g in found] == [[*"rznh"], [*"rznh"], [*"ifzohc"]]
    with torch.no_grad():
        ys, zs = below(xs)[0], net(xs)[0]
    for g, expected in zip(found, (ys[0, :, :4], ys[0, :, 4:], zs[0]), strict=True):
        np.testing.assert_allclose(g.values[g.output], expected, rtol=1e-5, atol=1e-6)


def test_a_cell_without_a_formula_has_no_gates_to_show():
    net = RNN(Dropout(Stacked([GRU(3, 3)]), 0.0))
    with pytest.raises(ModelError, match="Stacked has none"):
        layer_gates(net, torch.zeros(1, 2, 3))


def test_a_residual_connection_shows_the_gates_of_its_cell_and_feeds_its_sum_upwards():
    torch.manual_seed(0)
    xs = torch.randn(1, 5, 3)
    net = RNN(stack_cells([GRU(3, 4), GRU(4, 4), GRU(4, 4)], [], residual=True)).eval()
    h1, h2, h3 = (g.values["h"] for g in layer_gates(net, xs))
    with torch.no_grad():
        ys = net(xs)[0][0].numpy()
    np.testing.assert_allclose(h1 + h2 + h3, ys, rtol=1e-5, atol=1e-6)


def test_saturation_counts_what_is_closed_and_what_is_open():
    values = {"f": np.array([[0.05, 0.95], [0.5, 0.91]]), "c": np.array([[-2.0, 0.0]])}
    found = saturation(values)
    assert found["f"].mean == pytest.approx(0.6025)
    assert (found["f"].closed, found["f"].open) == (25.0, 50.0)
    assert (found["c"].mean, found["c"].closed, found["c"].open) == (1.0, 50.0, 50.0)
