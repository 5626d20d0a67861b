"""Products by our own C++ are those of torch in float64, however the matrices lie and whoever computes them."""

import pytest
import torch
from torch.nn.functional import linear

from elman.kernels import large_products
from elman.kernels.large_products import linear_large, linear_tanh, multiply_large, unsupported_reason
from elman.native.library import why_not_loaded


@pytest.fixture(autouse=True)
def library(monkeypatch):
    """The library whatever the processor, and for the smallest products."""
    if reason := why_not_loaded("large_product.cpp"):
        pytest.skip(reason)
    monkeypatch.setattr(large_products, "unsupported_reason", lambda: None)
    monkeypatch.setattr(large_products, "_SMALLEST", 1)
    monkeypatch.setattr(large_products, "_NARROWEST", 1)
    monkeypatch.setattr(large_products, "_PIECE", 1)
    large_products._find_library.cache_clear()
    torch.manual_seed(0)
    yield
    large_products._find_library.cache_clear()


@pytest.fixture(params=[1, 2, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)


def close(found, exact):
    return (found - exact).abs().max() <= 2e-6 * exact.abs().max()


@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 40, 7), (61, 33, 300), (13, 530, 70), (200, 17, 31)], ids=str)
@pytest.mark.parametrize("turned", [(), (0,), (1,), (0, 1)], ids=str)
def test_a_product_is_that_of_float64(sizes, turned, threads):
    rows, depth, width = sizes
    a, b = torch.randn(rows, depth), torch.randn(depth, width)
    a, b = (m.t().contiguous().t() if i in turned else m for i, m in enumerate((a, b)))
    exact = a.double() @ b.double()
    assert close(multiply_large(a, b), exact)
    wide = torch.full((rows, width + 3), 7.0)
    out = wide[:, :width]
    assert multiply_large(a, b, out).data_ptr() == out.data_ptr()
    assert close(out, exact)
    assert close(multiply_large(a, b, out, add=True), 2 * exact)
    assert (wide[:, width:] == 7).all()  # nothing is written beside it


def tanh_of_linear(x, W, b=None):
    return torch.tanh(linear(x, W, b))


LAYERS = [(linear_large, linear), (linear_tanh, tanh_of_linear)]
every_layer = pytest.mark.parametrize(("ours", "plain"), LAYERS, ids=["linear", "tanh"])


@every_layer
def test_a_linear_layer_and_its_gradients_are_those_of_float64(ours, plain, threads):
    inputs = [torch.randn(3, 11, 40), torch.randn(70, 40), torch.randn(70)]
    found, exact = [], []
    for results, layer, dtype in ((found, ours, torch.float32), (exact, plain, torch.float64)):
        given = [t.to(dtype).requires_grad_() for t in inputs]
        ys = layer(*given)
        torch.manual_seed(1)
        results += [ys, *torch.autograd.grad(ys, given, torch.randn(ys.shape).to(dtype))]
    assert found[0].grad_fn.name().startswith("_Linear")  # ours, not torch's
    assert all(map(close, found, exact))
    assert torch.equal(ours(*inputs), found[0])


def test_a_row_is_computed_alike_whatever_stands_beside_it_and_whoever_computes_it(monkeypatch):
    x, W = torch.randn(130, 290), torch.randn(45, 290)
    whole = linear_large(x, W)
    for count in (1, 2, 5):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=count: count)
        assert torch.equal(linear_large(x, W), whole)
        assert torch.equal(linear_large(x[7:9], W), whole[7:9])


@every_layer
def test_second_derivatives_are_there(ours, plain):
    x, W = (torch.randn(20, 40) / 6).requires_grad_(), torch.randn(30, 40, requires_grad=True)

    def differentiate(layer):
        (dx,) = torch.autograd.grad(layer(x, W).square().sum(), x, create_graph=True)
        return torch.autograd.grad(dx.square().sum(), W)[0]

    assert torch.allclose(differentiate(ours), differentiate(plain), rtol=1e-3, atol=1e-4)


def test_other_precisions_and_autocast_are_left_to_torch(monkeypatch):
    monkeypatch.setattr(large_products, "_multiply", None)
    x, W = torch.randn(20, 40), torch.randn(30, 40)
    assert linear_large(x.double(), W.double()).dtype == torch.float64
    assert torch.equal(multiply_large(x.double(), W.double().t()), x.double() @ W.double().t())
    across = torch.empty(30, 20).t()
    assert multiply_large(x, W.t(), across).data_ptr() == across.data_ptr()
    assert torch.allclose(across, linear(x, W), atol=1e-5)
    multiply_large(x, W.t(), across, add=True)
    assert torch.allclose(across, 2 * linear(x, W), atol=1e-5)
    with torch.autocast("cpu", torch.bfloat16):
        assert linear_large(x, W).dtype == torch.bfloat16
    ys = torch.func.vmap(lambda row: linear_large(row[None], W)[0])(x)
    assert torch.allclose(ys, linear(x, W), atol=1e-5)


def test_what_it_cannot_do_better_than_torch_is_said(monkeypatch):
    why = unsupported_reason.__wrapped__
    monkeypatch.setattr(large_products, "why_not_loaded", lambda name: None)
    for level, intel, reason in (
        ("avx2", False, "only processors with AVX-512 gain by it"),
        ("avx2", True, "only processors with AVX-512 gain by it"),
        ("avx512", True, "MKL uses all of an Intel processor"),
        ("avx512", False, None),
    ):
        monkeypatch.setattr(large_products, "find_level", lambda level=level: level)
        monkeypatch.setattr(large_products, "is_intel", lambda intel=intel: intel)
        assert why() == reason
    monkeypatch.setattr(large_products, "why_not_loaded", lambda name: f"no {name}")
    assert why() == "no large_product.cpp"


def test_only_products_that_are_large_on_every_side_are_for_the_library(monkeypatch):
    monkeypatch.setattr(large_products, "_SMALLEST", 20 * 40 * 30)
    monkeypatch.setattr(large_products, "_NARROWEST", 20)
    x, W = torch.randn(20, 40, requires_grad=True), torch.randn(30, 40)

    def is_ours(x, W):
        return linear_large(x, W).grad_fn.name().startswith("_Linear")

    assert is_ours(x, W)
    assert is_ours(x.view(4, 5, 40), W), "all rows count"
    assert not is_ours(x[:19], W)
    assert not is_ours(torch.randn(100, 40, requires_grad=True), W[:19])
    assert not is_ours(x, W[:29])


def test_nan_and_infinity_come_through():
    x, W = torch.ones(20, 40), torch.ones(30, 40)
    x[3, 5], x[4, 6] = torch.nan, torch.inf
    ys = linear_large(x, W)
    assert ys[3].isnan().all()
    assert ys[4].isinf().all()
    assert ys[[0, 19]].eq(40).all()
