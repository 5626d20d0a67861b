"""Precisions: executors compute in halves or refuse, and treat a state of another precision alike."""

from copy import deepcopy

import pytest
import torch

from elman.cells import CELLS, LSTM
from elman.errors import ModelError
from elman.scan import EXECUTORS, scan

MASK = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])
HALVES = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("name", ["lstm", "reset-after-gru", "slstm"])
def test_executors_compute_in_halves(name, executor, dtype):
    cell = CELLS[name](3, 4)
    if EXECUTORS[executor].unsupported_reason(deepcopy(cell).to(dtype)):
        pytest.skip("the executor refuses the cell in this precision")
    xs = torch.randn(2, 4, 3)
    expected, _ = scan(cell, xs, MASK, executor="loop")
    ys, _ = scan(cell.to(dtype), xs.to(dtype), MASK, executor=executor)
    assert ys.dtype == dtype
    torch.testing.assert_close(ys.float(), expected, atol=0.03, rtol=0.03)


@pytest.mark.parametrize("dtype", [torch.float64, *HALVES, torch.long])
@pytest.mark.parametrize("executor", ["auto", *EXECUTORS])
def test_a_state_of_another_precision_is_refused_by_all(executor, dtype):
    cell, xs = LSTM(3, 4), torch.randn(2, 4, 3)
    state = cell.initial(xs)
    with pytest.raises(ModelError, match=f"the initial state is {dtype}, but the cell computes in"):
        scan(cell, xs, None, state.replace(c=state.c.to(dtype)), executor=executor)


def test_under_autocast_a_state_may_have_either_precision():
    cell, xs = LSTM(3, 4), torch.randn(2, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        _, state = scan(cell, xs, MASK)
        ys, _ = scan(cell, xs, MASK, state)
        scan(cell, xs, MASK, cell.initial(xs))
    assert ys.dtype == torch.bfloat16


@pytest.mark.parametrize("grad", [True, False], ids=["training", "prediction"])
@pytest.mark.parametrize("dtype", HALVES)
def test_an_lstm_without_padding_runs_under_autocast(dtype, grad):
    """oneDNN has no LSTM in float16 for most processors, and says so only when it is called."""
    cell, xs = LSTM(64, 64), torch.randn(4, 20, 64)
    expected, _ = scan(cell, xs, executor="loop")
    with torch.autocast("cpu", dtype), torch.set_grad_enabled(grad):
        ys, _ = scan(cell, xs)
    assert ys.dtype == dtype
    torch.testing.assert_close(ys.float(), expected, atol=0.03, rtol=0.03)


@pytest.mark.parametrize("executor", ["auto", "codegen", "loop"])
def test_under_autocast_the_input_may_have_either_precision(executor):
    cell, xs = LSTM(3, 4), torch.randn(2, 4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        ys, _ = scan(cell, xs, MASK, executor=executor)
        halves, _ = scan(cell, xs.bfloat16(), MASK, executor=executor)
    torch.testing.assert_close(halves.float(), ys.float(), atol=0.02, rtol=0.02)
    with pytest.raises(ModelError, match=r"xs is torch\.bfloat16, but the cell computes in torch\.float32"):
        scan(cell, xs.bfloat16(), MASK, executor=executor)
