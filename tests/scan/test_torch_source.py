"""The torch code of one value."""

import pytest
import torch

from elman.formula.symbols import symbol
from elman.scan.executors.codegen.torch_source import call

u, y = symbol("x", "u"), symbol("x", "y")
SLOPES = {"sigmoid_backward": y * (1 - y), "tanh_backward": 1 - y * y}


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("name", SLOPES)
def test_the_slopes_of_sigmoid_and_tanh_are_one_pass_over_the_numbers(name, first):
    factor = SLOPES[name]
    source = call(u * factor if first else factor * u, lambda a: a.args[1])
    assert source == f"torch.ops.aten.{name}(u, y)"
    values = {"u": torch.tensor([2.0, -3.0]), "y": torch.tensor([0.25, 0.5])}
    expected = {"sigmoid_backward": [0.375, -0.75], "tanh_backward": [1.875, -2.25]}[name]
    assert eval(source, {"torch": torch}, values).tolist() == expected
