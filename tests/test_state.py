"""Modes of networks; the laws of states are in tests/laws."""

import pytest
import torch
from torch import nn

from elman.state import State, eval_mode, from_bytes, leaves, repeat, shard_slice, to_bytes


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


@pytest.mark.parametrize(
    "state",
    [
        torch.ones(2, 3),
        tuple(torch.full((1, 2), float(i)) for i in range(12)),
        State(c=(torch.ones(1), State(h=torch.zeros(2), c=torch.ones(2))), h=torch.ones(1, 2)),
    ],
    ids=["tensor", "twelve", "nested"],
)
def test_a_state_comes_back_from_its_bytes_with_its_parts_in_their_order(state):
    again = from_bytes(to_bytes(state))
    assert [path for path, _ in leaves(again)] == [path for path, _ in leaves(state)]
    assert all(torch.equal(a, b) for (_, a), (_, b) in zip(leaves(again), leaves(state), strict=True))


def test_each_row_is_of_one_process_and_no_process_has_two_more_than_another():
    for count in (0, 2, 7, 12):
        shares = [range(count)[shard_slice(count, rank, 3)] for rank in range(3)]
        assert [row for share in shares for row in share] == [*range(count)]
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_copies_of_a_row_stand_beside_each_other():
    assert repeat(torch.tensor([[1], [2]]), 2).tolist() == [[1], [1], [2], [2]]
