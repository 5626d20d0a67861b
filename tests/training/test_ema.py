from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from elman.training.ema import WeightAverage, load_weights, tensors_by_name


@given(st.floats(0.01, 1.0), st.integers(1, 30))
def test_the_average_is_the_weighted_mean_of_what_it_saw(decay: float, count: int) -> None:
    net = nn.Linear(3, 2).double()
    average = WeightAverage(net, decay)
    seen = torch.randn(count, 2, 3, dtype=torch.double)
    for w in seen:
        load_weights(net, {"weight": w})
        average.update(net)
    powers = decay ** torch.arange(count - 1, -1, -1, dtype=torch.double)
    expected = torch.einsum("n,nij->ij", powers, seen) / powers.sum()
    torch.testing.assert_close(average.weights["weight"], expected)


def test_the_mean_is_lent_to_the_net_and_taken_back_bit_for_bit() -> None:
    net = nn.Linear(3, 2)
    average = WeightAverage(net, 0.5)
    with average.swap_into(net):
        assert torch.equal(net.weight, average.weights["weight"])
    average.update(net)
    own, pointer = net.weight.detach() + 1, net.weight.data_ptr()
    load_weights(net, {"weight": own})
    with average.swap_into(net):
        assert torch.equal(net.weight, average.weights["weight"])
    assert torch.equal(net.weight, own)
    assert net.weight.data_ptr() == pointer


def test_weights_are_all_that_a_net_remembers() -> None:
    net = nn.BatchNorm1d(2)
    net.register_buffer("carried", torch.zeros(1), persistent=False)
    names = {"weight", "bias", "running_mean", "running_var", "num_batches_tracked", "carried"}
    assert set(tensors_by_name(net)) == names


def test_the_order_of_its_weights_does_not_matter() -> None:
    net = nn.Bilinear(2, 2, 2)
    net.register_parameter("other", nn.Parameter(torch.randn(2)))
    average = WeightAverage(net, 1.0)
    average.weights = dict(reversed(average.weights.items()))
    average.update(net)
    assert all(torch.equal(average.weights[name], p) for name, p in net.named_parameters())


def test_another_net_of_the_same_weights_may_be_seen_between() -> None:
    one, other = (nn.Linear(2, 1).double() for _ in range(2))
    average = WeightAverage(one, 1.0)
    for net in (one, other, other, one):
        average.update(net)
    torch.testing.assert_close(average.weights["weight"], (one.weight + other.weight) / 2)
