"""A linear recurrence that torch computes in pieces is the loop, and so are its derivatives."""

import pytest
import torch

from elman.scan.executors.parallel.torch_scan import scan_linear


def drawn(steps: int) -> list[torch.Tensor]:
    shapes = (2, steps, 3), (2, steps, 3), (2, 3)
    return [torch.randn(shape, dtype=torch.double, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("steps", range(1, 18))
def test_any_number_of_steps_is_that_of_the_loop(steps):
    a, b, h = drawn(steps)
    found = scan_linear(a, b, h)
    for t in range(steps):
        h = a[:, t] * h + b[:, t]
        torch.testing.assert_close(found[:, t], h)


@pytest.mark.parametrize("steps", [1, 4, 7])
def test_its_derivatives_are_quotients_of_differences(steps):
    assert torch.autograd.gradcheck(scan_linear, drawn(steps))
    assert torch.autograd.gradgradcheck(scan_linear, drawn(steps))
