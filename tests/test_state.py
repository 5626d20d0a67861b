"""Modes of networks; the laws of states are in tests/laws."""

import pytest
import torch
from torch import nn

from elman.state import eval_mode


def parts() -> nn.Module:
    return nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)))


def modes(net: nn.Module) -> list[bool]:
    return [part.training for part in net.modules()]


@pytest.mark.parametrize("training", [True, False])
def test_eval_mode_is_without_dropout_and_restores_the_mode_of_every_part(training):
    net, x = parts().train(training), torch.randn(9, 2)
    if training:
        net[1].eval()  # a part that was frozen
    before = modes(net)
    with eval_mode(net) as same:
        assert same is net
        assert not any(modes(net))
        torch.testing.assert_close(net(x), net(x))
    assert modes(net) == before
    with pytest.raises(RuntimeError), eval_mode(net):
        net(torch.randn(9, 3))
    assert modes(net) == before


def test_eval_mode_touches_nothing_where_there_is_nothing_to_change(monkeypatch):
    net = parts().eval()
    walked: list[None] = []
    monkeypatch.setattr(net, "modules", lambda: walked.append(None))
    with eval_mode(net):
        pass
    assert not walked
