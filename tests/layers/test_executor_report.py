"""What would run the layers of a network, by their names."""

import torch
from torch import nn

from elman.cells import GRU, LSTM
from elman.layers import RNN, BiRNN, explain_executors
from tests.layers.decoders import decoder


def test_every_layer_is_named_with_its_executor():
    net = nn.ModuleDict({"low": BiRNN(LSTM(3, 4), GRU(3, 4)), "top": RNN(LSTM(8, 2), executor="loop")})
    found = {name: str(one) for name, one in explain_executors(net).items()}
    assert found == {
        "low.forward_rnn": "lstm 3 -> 4: torch",
        "low.backward_rnn": "gru 3 -> 4: codegen (not torch: PyTorch has no kernel for the formula 'gru')",
        "top": "lstm 8 -> 2: loop",
    }


def test_decoders_scan_their_stacks_or_step_through_attention():
    between, previous = nn.Sequential(decoder("between")), nn.Sequential(decoder("previous"))
    with torch.no_grad():
        assert [*explain_executors(between)] == ["0.stacks.0", "0.stacks.1"]
        (steps,) = explain_executors(previous).values()
    assert [choice.executor for choice in steps.choices] == ["step", "step"]
