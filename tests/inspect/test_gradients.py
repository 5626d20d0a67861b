"""How far the error travels back."""

import numpy as np
import pytest
import torch

from elman.cells import LSTM, Elman, Stacked, WeightDrop
from elman.inspect import gradient_norms
from elman.inspect.comparison import gradient_curves
from elman.state import State


def direction(seed: int, rows: int, width: int) -> torch.Tensor:
    """The unit vectors in which the last output is judged."""
    drawn = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)).double()
    return drawn / drawn.norm(dim=-1, keepdim=True)


def test_norms_are_those_of_autograd_by_hand_on_three_steps():
    cell, xs = Elman(2, 3).double(), torch.randn(4, 3, 2, dtype=torch.float64)
    W, U, b = cell.W, cell.U[0], cell.b
    s0 = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
    s1 = torch.tanh(xs[:, 0] @ W.t() + s0 @ U.t() + b)
    s2 = torch.tanh(xs[:, 1] @ W.t() + s1 @ U.t() + b)
    s3 = torch.tanh(xs[:, 2] @ W.t() + s2 @ U.t() + b)
    loss = (s3 * direction(5, 4, 3)).sum()
    gradients = torch.autograd.grad(loss, [s0, s1, s2, s3])
    expected = [g.norm(dim=-1).mean().item() for g in gradients]
    np.testing.assert_allclose(gradient_norms(cell, xs, seed=5), expected, rtol=1e-12)


def test_the_norm_of_a_state_is_over_all_its_parts():
    cell, xs = LSTM(2, 3).double(), torch.randn(4, 1, 2, dtype=torch.float64)
    state = State(
        h=torch.zeros(4, 3, dtype=torch.float64, requires_grad=True),
        c=torch.zeros(4, 3, dtype=torch.float64, requires_grad=True),
    )
    new = cell.step(state, cell.project(xs[:, 0]))
    gradients = torch.autograd.grad((new.h * direction(0, 4, 3)).sum(), [*state])
    expected = torch.cat(gradients, -1).norm(dim=-1).mean().item()
    assert gradient_norms(cell, xs)[0] == pytest.approx(expected, rel=1e-12)


def test_the_loss_is_one_step_in_some_direction():
    norms = gradient_norms(Elman(2, 3), torch.randn(4, 1, 2))
    assert norms[-1] == pytest.approx(1, rel=1e-12)


def test_a_scaled_rotation_of_units_at_rest_is_a_power():
    """Units at rest multiply the gradient by the same matrix at each step: gain^k."""
    cell = Elman(2, 4)
    with torch.no_grad():
        cell.U[0].mul_(0.5)  # orthogonal, halved
        cell.W.zero_()  # h stays 0, where tanh has slope 1
    norms = gradient_norms(cell, torch.randn(3, 6, 2))
    np.testing.assert_allclose(norms, [0.5**k for k in range(6, -1, -1)], rtol=1e-5)


def test_tanh_vanishes_and_relu_explodes():
    curves = gradient_curves(["elman", "relu"], steps=100)
    assert len(curves["elman"]) == 101
    assert curves["elman"][0] < 0.01 * curves["elman"][-1]
    assert curves["relu"][0] > 100 * curves["relu"][-1]


def test_the_cell_stays_as_it_was():
    cell, xs = LSTM(2, 3), torch.randn(4, 5, 2)
    before = {name: weight.clone() for name, weight in cell.state_dict().items()}
    gradient_norms(cell, xs)
    for name, weight in cell.state_dict().items():
        assert torch.equal(weight, before[name])
    assert all(weight.grad is None for weight in cell.parameters())


@pytest.mark.parametrize(
    "cell", [Stacked([LSTM(2, 3), Elman(3, 4)]), WeightDrop(LSTM(2, 3), 0.5)], ids=["stack", "drop"]
)
def test_compound_cells_have_norms_too(cell):
    norms = gradient_norms(cell, torch.randn(4, 5, 2))
    assert norms.shape == (6,)
    assert (norms > 0).all()


def test_the_seed_decides_what_is_judged():
    cell, xs = LSTM(2, 3), torch.randn(4, 5, 2)
    assert (gradient_norms(cell, xs, seed=1) == gradient_norms(cell, xs, seed=1)).all()
    assert (gradient_norms(cell, xs, seed=1) != gradient_norms(cell, xs, seed=2)).any()
