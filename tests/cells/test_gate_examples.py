"""Gates by themselves."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.cells.gate_examples import SoftGate, coupled_gates, hard_gate, independent_gates
from elman.errors import ModelError

NUMBERS = st.integers(-99, 99)
TRIPLES = st.lists(st.tuples(st.integers(0, 1), NUMBERS, NUMBERS), min_size=1, max_size=6)


@given(TRIPLES)
def test_a_hard_gate_writes_where_it_is_one_and_keeps_where_it_is_zero(triples):
    g, x, s = (torch.tensor(column) for column in zip(*triples, strict=True))
    assert hard_gate(g, x, s).tolist() == [b if a else c for a, b, c in triples]


def test_a_hard_gate_is_made_of_zeros_and_ones():
    with pytest.raises(ModelError, match=r"^a hard gate is made of zeros and ones"):
        hard_gate(torch.tensor([0.5]), torch.ones(1), torch.ones(1))


def test_two_gates_open_for_themselves_and_coupled_ones_share():
    t, u = torch.tensor([10.0, 10.0, 10.0]), torch.tensor([1.0, 1.0, 1.0])
    g, k = torch.tensor([0.0, 0.5, 1.0]), torch.tensor([1.0, 1.0, 0.0])
    assert independent_gates(g, t, k, u).tolist() == [1, 6, 10]
    assert coupled_gates(g, t, u).tolist() == [1, 5.5, 10]
    torch.testing.assert_close(coupled_gates(g, t, u), independent_gates(g, t, 1 - g, u))


def test_a_coupled_gate_of_zeros_and_ones_is_the_hard_one():
    g, x, s = torch.tensor([0, 1, 0]), torch.tensor([10, 11, 12]), torch.tensor([8, 9, 3])
    assert torch.equal(coupled_gates(g, x, s), hard_gate(g, x, s))


def test_a_soft_gate_lies_between_zero_and_one_and_is_a_layer_of_input_and_state():
    gate = SoftGate(3, 4)
    x, h = torch.randn(2, 3), torch.randn(2, 4)
    by_hand = 1 / (1 + torch.exp(-(x @ gate.W.weight.t() + h @ gate.U.weight.t() + gate.W.bias)))
    g = gate(x, h)
    torch.testing.assert_close(g, by_hand)
    assert ((g > 0) & (g < 1)).all()


def test_a_soft_gate_learns_what_to_let_through():
    """Let u pass where x is positive: what a hard gate cannot be taught."""
    gate = SoftGate(1, 1)
    optimizer = torch.optim.Adam(gate.parameters(), lr=0.3)
    x, u, h = torch.randn(64, 1), torch.randn(64, 1), torch.zeros(64, 1)
    wanted = torch.where(x > 0, u, torch.zeros_like(u))

    def loss():
        return (gate(x, h) * u - wanted).pow(2).mean()

    before = loss().item()
    for _ in range(60):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    assert loss().item() < before / 10
