"""Where a decoder begins: zero, what the encoder left, or what a network makes of it."""

import pytest
import torch

from elman.cells import CELLS
from elman.errors import ModelError
from elman.layers.decoders.initial_state import SUMMARIES, CopyInit, LearnedInit, MeanInit, ZeroInit
from elman.layers.encoder import EncoderOutput, RecurrentEncoder, StatelessEncoder, build_stacked_rnn
from elman.layers.stateless_encoders import TransformerEncoder
from elman.state import leaves


def encoding(cell: str = "lstm", bidirectional: bool = True) -> EncoderOutput:
    """Of sequences of three, one and no vectors, by two layers of four units."""
    layers = build_stacked_rnn(CELLS[cell], (3, 4), layers=2, bidirectional=bidirectional, dropout=0.0)
    mask = torch.arange(3) < torch.tensor([[3], [1], [0]])
    return RecurrentEncoder(layers).double()(torch.randn(3, 3, 3, dtype=torch.double), mask)


def cells(cell: str = "lstm", size: int = 4) -> list:
    return [CELLS[cell](2, size), CELLS[cell](size, size)]


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_zero_is_zero_in_every_part_of_every_layer(cell):
    state = ZeroInit(cells(cell))(encoding(cell))
    assert [part.names for part in state] == [CELLS[cell](1, 1).formula.states] * 2
    assert all(leaf.shape == (3, 4) and not leaf.any() for _, leaf in leaves(state))


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_what_is_copied_from_one_direction_is_its_last_state_layer_by_layer(cell):
    source = encoding(cell, bidirectional=False)
    state = CopyInit()(source)
    assert state == source.final
    torch.testing.assert_close(state[-1].h, source.last)


@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_what_is_copied_from_two_directions_is_the_mean_of_both_last_states(cell):
    source = encoding(cell)
    for part, (ahead, back) in zip(CopyInit()(source), source.final, strict=True):
        assert part.names == ahead.names
        for name in part.names:
            mean_of_both = (getattr(ahead, name) + getattr(back, name)) / 2
            torch.testing.assert_close(getattr(part, name), mean_of_both)
    top = CopyInit()(source)[-1].h
    torch.testing.assert_close(top, (source.last[:, :4] + source.last[:, 4:]) / 2)


def test_an_encoder_without_states_has_none_to_copy():
    net = StatelessEncoder(TransformerEncoder(3, 8, 1), 8)
    with pytest.raises(ModelError, match="no last state to copy"):
        CopyInit()(net(torch.randn(1, 2, 3), torch.ones(1, 2, dtype=torch.bool)))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_copied_mean_is_h_of_every_layer_and_the_memory_is_zero(bidirectional):
    source = encoding(bidirectional=bidirectional)
    halves = source.ys.unflatten(-1, (-1, 4)).mean(2)
    by_hand = torch.stack([halves[0].mean(0), halves[1, 0], torch.zeros(4).double()])
    for part in MeanInit(cells())(source):
        torch.testing.assert_close(part.h, by_hand)
        assert not part.c.any()


def test_a_mean_as_wide_as_the_state_is_copied_as_it_is():
    source = encoding()
    for part in MeanInit(cells(size=8))(source):
        torch.testing.assert_close(part.h, source.mean())


def test_a_mean_of_another_width_is_refused_with_both_widths():
    with pytest.raises(ModelError, match=r"8 features.*state of 5"):
        MeanInit(cells(size=5))(encoding())


@pytest.mark.parametrize("summary", SUMMARIES.values())
@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
def test_a_network_makes_every_part_from_rows_of_its_own(cell, summary):
    source = encoding(cell)
    start = LearnedInit(cells(cell, 5), 8, summary).double()
    c = summary(source).detach().numpy()
    W, b = (p.detach().numpy() for p in (start.W.weight, start.W.bias))
    by_hand = torch.from_numpy(c @ W.T + b).tanh()
    parts = [leaf for _, leaf in leaves(start(source))]
    assert len(parts) == 2 * len(CELLS[cell](1, 1).formula.states)
    torch.testing.assert_close(torch.cat(parts, 1), by_hand)


def test_a_start_has_no_parameters_of_the_decoder():
    assert [*ZeroInit(cells()).parameters(), *MeanInit(cells()).parameters()] == []
    assert set(LearnedInit(cells(), 8, SUMMARIES["last"]).state_dict()) == {"W.weight", "W.bias"}
