"""Products of a few rows: those of torch, by whatever computes them, with the weights as they are now."""

import pytest
import torch
from torch.nn.functional import linear

from elman.kernels import few_rows
from elman.kernels.few_rows import linear_few, most_rows, unsupported_reason

SIZES = [(1, 1, 1), (1, 7, 5), (2, 64, 33), (5, 100, 512), (6, 3, 16), (7, 31, 650), (13, 258, 47)]


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


def draw(rows, width, depth):
    return torch.randn(rows, depth), torch.randn(width, depth), torch.randn(width)


def assert_near(found, x, W, b=None):
    wide = linear(x.double(), W.double(), None if b is None else b.double())
    scale = linear(x.double().abs(), W.double().abs()) + 1  # what rounding is relative to
    assert found.dtype == x.dtype
    assert ((found.double() - wide).abs() <= 2e-6 * scale).all()


@pytest.mark.parametrize(("rows", "width", "depth"), SIZES)
def test_products_are_those_of_float64(rows, width, depth):
    x, W, b = draw(rows, width, depth)
    assert_near(linear_few(x, W, b), x, W, b)
    assert_near(linear_few(x, W), x, W)


@pytest.mark.parametrize("rows", [1, 3])
def test_rows_and_columns_of_larger_tensors_are_read_where_they_lie(rows):
    x, W, b = draw(rows, 20, 40)
    assert_near(linear_few(x[:, 4:30], W[:, 10:36], b), x[:, 4:30], W[:, 10:36], b)
    assert_near(linear_few(x.t().contiguous().t(), W.t().contiguous().t(), b), x, W, b)


@pytest.mark.parametrize("width", [7, 2050])
def test_threads_share_a_product_and_change_nothing(monkeypatch, width):
    x, W, b = draw(3, width, 33)
    alone = linear_few(x, W, b)
    monkeypatch.setattr(few_rows, "_count_pieces", lambda numbers: 3)
    assert torch.equal(linear_few(x, W, b), alone)


def test_a_row_is_the_same_among_others():
    x, W, b = draw(most_rows() or 4, 70, 90)
    alone = torch.cat([linear_few(row[None], W, b) for row in x])
    if most_rows():
        assert torch.equal(linear_few(x, W, b), alone)
    torch.testing.assert_close(linear_few(x, W, b), alone)


def test_changed_weights_are_seen_at_once():
    x, W, b = draw(1, 8, 8)
    linear_few(x, W, b)
    W.data.mul_(2)  # not even the version of W tells
    assert_near(linear_few(x, W, b), x, W, b)


@pytest.mark.skipif(unsupported_reason() is not None, reason="no library")
def test_the_library_computes_only_what_it_can(monkeypatch):
    called = []
    real, most = few_rows._multiply()
    monkeypatch.setattr(few_rows, "_multiply", lambda: (lambda *a: called.append(a[0]) or real(*a), most))
    x, W, b = draw(2, 40, 40)
    linear_few(x, W, b)
    assert called == [2]
    linear_few(x.double(), W.double(), b.double())
    linear_few(x.repeat(most, 1), W, b)
    with torch.autocast("cpu", torch.bfloat16):
        linear_few(x, W, b)
    with torch.enable_grad():
        W.requires_grad_()
        assert linear_few(x, W, b).requires_grad
    assert called == [2]


def test_without_a_library_torch_computes(monkeypatch):
    monkeypatch.setattr(few_rows, "unsupported_reason", lambda: "there is no compiler")
    monkeypatch.setattr(few_rows, "_multiply", few_rows._multiply.__wrapped__)  # asked anew
    x, W, b = draw(2, 5, 6)
    assert torch.equal(linear_few(x, W, b), linear(x, W, b))


def test_nothing_and_no_number_are_what_torch_says():
    W = torch.randn(5, 6)
    assert linear_few(torch.empty(0, 6), W).shape == (0, 5)
    x = torch.zeros(1, 6)
    x[0, 3] = torch.nan
    assert linear_few(x, W).isnan().all()
