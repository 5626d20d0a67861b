"""Encoders, recurrent or not: what they give of a sequence alone, in company and in PyTorch."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from elman.cells import CELLS, LSTM
from elman.errors import ModelError
from elman.layers import to_torch
from elman.layers.encoder import Encoder, EncoderOutput, RecurrentEncoder, StatelessEncoder, build_stacked_rnn
from elman.layers.rnn import BiRNN, StackedRNN
from elman.layers.stateless_encoders import ConvolutionalEncoder, TransformerEncoder
from elman.state import leaves


def stack(cell: str = "lstm", bidirectional: bool = True, dropout: float = 0.0) -> RecurrentEncoder:
    layers = build_stacked_rnn(CELLS[cell], (3, 4), layers=2, bidirectional=bidirectional, dropout=dropout)
    return RecurrentEncoder(layers)


MAKE = {
    "lstm": lambda: stack(bidirectional=False),
    "lstm in both directions": stack,
    "gru in both directions": lambda: stack("gru"),
    "convolution": lambda: StatelessEncoder(ConvolutionalEncoder(3, 8, 2), 8),
    "transformer": lambda: StatelessEncoder(TransformerEncoder(3, 8, 2), 8),
}


def made(name: str) -> Encoder:
    torch.manual_seed(1)
    return MAKE[name]().double().eval()


def sources(lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors by chance, NaN where there is none."""
    most = max(lengths)
    mask = torch.arange(most) < torch.tensor(lengths)[:, None]
    xs = torch.randn(len(lengths), most, 3, dtype=torch.double)
    return xs.masked_fill(~mask[..., None], torch.nan), mask


def parts(encoding: EncoderOutput) -> list[torch.Tensor]:
    """What there is of each sequence beside its outputs."""
    states = [] if encoding.final is None else [leaf for _, leaf in leaves(encoding.final)]
    return [encoding.last, encoding.mean(), *states]


@pytest.mark.parametrize("name", MAKE)
@settings(max_examples=6)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_a_sequence_is_read_alone_as_in_company_and_with_any_padding(name, lengths):
    encoder = made(name)
    xs, mask = sources(lengths)
    with torch.no_grad():
        together = encoder(xs, mask)
        for b, n in enumerate(lengths):
            alone = encoder(xs[b : b + 1, :n], mask[b : b + 1, :n])
            torch.testing.assert_close(together.ys[b, :n], alone.ys[0], rtol=0, atol=1e-10)
            assert not together.ys[b, n:].any()
            for all_, one in zip(parts(together), parts(alone), strict=True):
                torch.testing.assert_close(all_[b : b + 1], one, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", MAKE)
def test_every_encoder_is_one_and_says_how_wide_its_outputs_are(name):
    encoder = made(name)
    assert isinstance(encoder, Encoder)
    found = encoder(*sources([3, 1]))
    assert found.ys.shape == (2, 3, encoder.output_size)
    assert found.last.shape == found.mean().shape == (2, encoder.output_size)


@pytest.mark.parametrize("name", MAKE)
def test_an_empty_sequence_is_zeros_and_its_gradient_no_nan(name):
    encoder = made(name)
    xs, mask = sources([3, 0])
    xs.requires_grad_()
    found = encoder(xs, mask)
    assert not found.last[1].any()
    assert not found.mean()[1].any()
    sum(part.sum() for part in (*parts(found), found.ys)).backward()
    assert xs.grad[mask].isfinite().all()
    assert not xs.grad[~mask].nan_to_num().any()
    assert all(p.grad is None or p.grad.isfinite().all() for p in encoder.parameters())


def test_the_outputs_and_last_states_are_those_of_torch_nn():
    theirs = nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True).double()
    widths = (3, 8)
    ours = StackedRNN([BiRNN(LSTM(width, 4), LSTM(width, 4)) for width in widths]).double()
    theirs.load_state_dict(to_torch(ours))
    encoder = RecurrentEncoder(ours)
    xs, mask = sources([5, 2])
    lengths = mask.sum(1)
    packed = nn.utils.rnn.pack_padded_sequence(xs, lengths, batch_first=True)
    ys, (h, c) = theirs(packed)
    ys, _ = nn.utils.rnn.pad_packed_sequence(ys, batch_first=True)
    found = encoder(xs, mask)
    torch.testing.assert_close(found.ys, ys)
    torch.testing.assert_close(found.last, torch.cat([h[2], h[3]], -1))
    torch.testing.assert_close(found.mean(), ys.sum(1) / lengths[:, None])
    for layer, (ahead, back) in enumerate(found.final):
        torch.testing.assert_close(ahead.h, h[2 * layer])
        torch.testing.assert_close(back.c, c[2 * layer + 1])


def test_directions_that_are_not_side_by_side_are_refused():
    layer = BiRNN(LSTM(3, 4), LSTM(3, 4), merge=torch.add)
    with pytest.raises(ModelError, match="concatenated"):
        RecurrentEncoder(StackedRNN([layer]))


def test_each_layer_drops_the_same_features_at_every_position():
    encoder = stack(dropout=0.5).double().train()
    xs, mask = sources([6])
    dropped = encoder(xs, mask).ys[0] == 0
    assert (dropped == dropped[0]).all()
    assert 0 < dropped[0].sum() < 8
    assert (encoder.eval()(xs, mask).ys != 0).all()


def test_an_encoder_without_a_recurrence_has_no_states_and_its_last_output_is_at_the_end():
    xs, mask = sources([4, 2])
    found = made("transformer")(xs, mask)
    assert found.final is None
    torch.testing.assert_close(found.last, torch.stack([found.ys[0, 3], found.ys[1, 1]]))
