"""An encoder begins with the layers of a language model, as far as they fit."""

import pytest
import torch
from torch import nn

from elman.cells import GRU, LSTM, Dropout, Residual, Stacked
from elman.errors import ConfigError
from elman.layers import RNN, BiRNN, StackedRNN
from elman.layers.encoder_start import copy_layers


def same(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def two_layers(width: int = 3, units: int = 4, cell=GRU) -> RNN:
    return RNN(Stacked([Dropout(cell(width, units), 0.1), Residual(cell(units, units))]))


def cells(layer: RNN) -> list[nn.Module]:
    return [part for part in layer.modules() if "W" in dict(part.named_parameters(recurse=False))]


def test_layers_of_one_direction_are_all_taken_whatever_is_around_their_cells():
    source, encoder = two_layers(), RNN(Stacked([GRU(3, 4), GRU(4, 4)]))
    assert copy_layers(source, encoder) == 2
    assert all(map(same, cells(source), cells(encoder)))


def test_of_two_directions_the_first_layer_reads_ahead_as_the_language_model_does():
    source = two_layers()
    encoder = StackedRNN([BiRNN(GRU(3, 4), GRU(3, 4)), BiRNN(GRU(8, 4), GRU(8, 4))])
    before = [p.clone() for p in (*encoder.stack[0].backward_rnn.parameters(), *encoder.stack[1].parameters())]
    assert copy_layers(source, encoder) == 1
    assert same(encoder.stack[0].forward_rnn, cells(source)[0])
    after = (*encoder.stack[0].backward_rnn.parameters(), *encoder.stack[1].parameters())
    assert all(map(torch.equal, before, after))


def test_a_first_layer_that_reads_more_than_words_keeps_the_weights_of_the_rest():
    source, encoder = two_layers(), RNN(Stacked([GRU(5, 4), GRU(4, 4)]))
    first, second = cells(encoder)
    rest = first.W[:, 3:].clone()
    assert copy_layers(source, encoder) == 2
    assert torch.equal(first.W[:, :3], cells(source)[0].W)
    assert torch.equal(first.W[:, 3:], rest)
    assert same(second, cells(source)[1])


def test_a_second_layer_that_does_not_fit_ends_what_is_taken():
    source, encoder = RNN(Stacked([GRU(3, 4), GRU(4, 5)])), StackedRNN([RNN(GRU(3, 4)), RNN(GRU(4, 4))])
    assert copy_layers(source, encoder) == 1
    assert same(encoder.stack[0], cells(source)[0])


@pytest.mark.parametrize("other", [GRU(2, 4), GRU(3, 5), LSTM(3, 4)], ids=["less", "units", "cell"])
def test_layers_that_do_not_fit_are_refused_and_nothing_is_changed(other):
    encoder = RNN(other)
    before = [p.clone() for p in encoder.parameters()]
    with pytest.raises(ConfigError, match="do not fit: leave out cell, hidden and embedding"):
        copy_layers(two_layers(), encoder)
    assert all(map(torch.equal, before, encoder.parameters()))
