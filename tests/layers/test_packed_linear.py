"""Products with weights that were laid out beforehand against torch's own."""

import pytest
import torch
from torch.nn.functional import linear

from elman.cells import CELLS
from elman.layers import packed_linear
from elman.layers.packed_linear import FrozenCell, PackedLinear
from elman.state import leaves, map_state


@pytest.mark.parametrize("rows", [1, 5, 64, 67, 320])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("bias", [False, True])
def test_a_product_is_that_of_torch_for_any_number_of_rows(rows, dtype, bias):
    W, b = torch.randn(48, 20, dtype=dtype), torch.randn(48, dtype=dtype) if bias else None
    product = PackedLinear(W, b)
    for count in (rows, 100, rows):
        x = torch.randn(count, 20, dtype=dtype)
        expected = linear(x.double(), W.double(), None if b is None else b.double())
        nearest = {"rtol": 2e-2, "atol": 0.1} if dtype == torch.bfloat16 else {}
        torch.testing.assert_close(product(x).double(), expected, **(nearest or NEAR[dtype]))
        assert product(x).dtype == dtype


NEAR = {torch.float32: {"rtol": 1e-4, "atol": 1e-4}, torch.float64: {"rtol": 1e-10, "atol": 1e-10}}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_whose_weights_stay_steps_as_before(name):
    cell = CELLS[name](6, 8)
    with torch.no_grad():
        x = torch.randn(70, 6)
        state = map_state(torch.randn_like, cell.initial(x))
        expected, steady = cell.step(state, cell.project(x)), FrozenCell(cell)
        found = steady.step(state, steady.project(x))
    for (path, a), (_, b) in zip(leaves(found), leaves(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=path)


@pytest.mark.parametrize("broken", [lambda *_: torch.ones(64, 48), lambda: None], ids=["wrong", "gone"])
def test_where_onednn_gives_something_else_the_plain_product_is_taken(broken, monkeypatch):
    packed_linear.unsupported_reason.cache_clear()
    monkeypatch.setattr(packed_linear, "_multiply", broken)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    W, x = torch.randn(48, 32), torch.randn(64, 32)
    try:
        torch.testing.assert_close(PackedLinear(W)(x), linear(x, W))
        assert packed_linear.unsupported_reason(torch.float32) is not None
    finally:
        packed_linear.unsupported_reason.cache_clear()
