"""An LSTM that writes no more than it forgets: its memory stays within ±1; uncapped it is the LSTM."""

import torch

from elman.cells import LSTM, CappedLSTM
from elman.scan import scan


def run(cell, xs):
    return scan(cell, xs, executor="loop")


def test_its_memory_stays_within_one():
    torch.manual_seed(0)
    xs = 20 * torch.randn(4, 50, 3, dtype=torch.float64)
    capped, plain = CappedLSTM(3, 8).double(), LSTM(3, 8).double()
    plain.load_state_dict(capped.state_dict())
    assert run(capped, xs)[1].c.abs().max() <= 1 < run(plain, xs)[1].c.abs().max()


def test_it_is_the_lstm_where_the_input_gate_is_small():
    torch.manual_seed(0)
    xs = torch.randn(2, 9, 3, dtype=torch.float64)
    capped, plain = CappedLSTM(3, 5).double(), LSTM(3, 5).double()
    for cell in (capped, plain):
        cell.init_gate_bias("i", -9.0)
        cell.init_gate_bias("f", 0.0)
    plain.load_state_dict(capped.state_dict())
    torch.testing.assert_close(run(capped, xs)[0], run(plain, xs)[0])
