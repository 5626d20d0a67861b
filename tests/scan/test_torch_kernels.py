"""PyTorch's kernels are used where they compute the formula: it is tried, since nobody promises it."""

import pytest
import torch

from elman.cells import LSTM, ResetAfterGRU
from elman.scan.executors import torch_kernels
from elman.scan.executors.torch_kernels import KERNELS, match, unsupported_reason


@pytest.fixture
def other_lstm(monkeypatch):
    """A PyTorch whose LSTM computes something else."""

    def wrong(*given):
        ys, *states = torch.lstm(*given)
        return ys + 1, *states

    changed = tuple((formula, wrong if kernel is torch.lstm else kernel) for formula, kernel in KERNELS)
    monkeypatch.setattr(torch_kernels, "KERNELS", changed)
    match.cache_clear()
    yield
    match.cache_clear()


def test_a_kernel_that_computes_something_else_is_not_used(other_lstm):
    assert unsupported_reason(LSTM(3, 4)) == "this PyTorch's wrong computes something else"
    assert unsupported_reason(ResetAfterGRU(3, 4)) is None, "only that one"
