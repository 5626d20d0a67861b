"""The losses over a vocabulary as a GPU computes them: row by row, in float16, in a CUDA graph."""

import pytest
import torch

from elman.layers.cross_entropy import linear_cross_entropy, linear_nll
from elman.layers.mixture import Mixture
from tests.layers.logits import mixture, mixture_costs, problem, relative, whole


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [None, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_rows_on_a_gpu_are_the_whole(dtype, smoothing):
    leaves, targets = problem(300, 64, 3001, device="cuda")
    leaves[1].data /= 8  # logits of a usual size, or bfloat16 rounds them to another distribution
    weights = torch.rand(300, device="cuda") * (torch.rand(300, device="cuda") < 0.8)
    narrow = [leaf.detach().float().requires_grad_() for leaf in leaves]
    with torch.autocast("cuda", dtype or torch.float16, enabled=dtype is not None):
        ours = linear_cross_entropy(*narrow, targets, weights=weights, smoothing=smoothing)
    theirs = (whole(*leaves, targets, smoothing) * weights).sum() / weights.sum()
    most = {None: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    assert relative(ours, theirs) < most
    gradients = torch.autograd.grad(ours, narrow), torch.autograd.grad(theirs, leaves)
    assert all(relative(one, other) < most for one, other in zip(*gradients, strict=True))


@pytest.mark.gpu
def test_second_derivatives_of_rows_are_those_of_the_whole():
    leaves, targets = problem(40, 16, 2000, device="cuda")
    narrow = [leaf.detach().float().requires_grad_() for leaf in leaves]
    found = []
    for loss, inputs in (
        (linear_cross_entropy(*narrow, targets, smoothing=0.1), narrow),
        (whole(*leaves, targets, 0.1).mean(), leaves),
    ):
        first = torch.autograd.grad(loss, inputs, create_graph=True)
        found.append(torch.autograd.grad(sum(g.square().sum() for g in first), inputs))
    assert all(relative(one, other) < 1e-4 for one, other in zip(*found, strict=True))


@pytest.mark.gpu
def test_a_tiny_gradient_survives_float16():
    (h, W, b), targets = problem(64, 16, 2000, dtype=torch.float32, device="cuda")
    with torch.autocast("cuda", torch.float16):
        for loss in (linear_cross_entropy(h, W, b, targets), linear_nll(h, W, b, targets).mean()):
            one = torch.autograd.grad(loss, W, retain_graph=True)[0]
            small = torch.autograd.grad(loss * 1e-9, W)[0]
            assert relative(small * 1e9, one) < 1e-5


@pytest.mark.gpu
def test_the_loss_can_be_recorded_in_a_graph():
    leaves, targets = problem(200, 16, 2000, dtype=torch.float32, device="cuda")
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()

    def step():
        loss = linear_cross_entropy(*leaves, targets, weights=targets > 100)
        return loss, *torch.autograd.grad(loss, leaves)

    with torch.cuda.stream(side):
        step()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=side):
        recorded = step()
    with torch.no_grad():
        leaves[0].mul_(-2)
    graph.replay()
    torch.cuda.synchronize()
    for one, other in zip(recorded, step(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", [torch.float32, torch.float16])
def test_the_rows_of_a_gpu_are_those_of_all_logits(precision):
    made = mixture(size=32, vocabulary=3000, width=32, count=4).float().cuda()
    made.softmax._tied = (made.softmax.W.detach().float().cuda().mul(0.2).requires_grad_(),)
    h = torch.randn(200, 32, device="cuda", requires_grad=True)
    targets, weights = torch.randint(3000, (200,), device="cuda"), torch.rand(200, device="cuda")
    expected = (mixture_costs(made, h, targets) * weights).sum() / weights.sum()
    with torch.autocast("cuda", dtype=precision, enabled=precision == torch.float16):
        loss = made.loss(h, targets, weights)
    torch.testing.assert_close(loss, expected, rtol=3e-3, atol=0)
    leaves = [h, made.softmax.W, *made.parameters()]
    found = torch.autograd.grad(loss, leaves)
    for one, other in zip(found, torch.autograd.grad(expected, leaves), strict=True):
        assert (one - other).norm() < 0.03 * other.norm()


@pytest.mark.gpu
def test_the_loss_is_captured_in_a_graph():
    made = Mixture(16, 2000, count=3).cuda()
    h, targets = torch.randn(40, 16, device="cuda"), torch.randint(2000, (40,), device="cuda")

    def update():
        made.zero_grad(set_to_none=False)
        loss = made.loss(h, targets)
        loss.backward()
        return loss

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        update()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        captured = update()
    h.copy_(torch.randn_like(h))
    graph.replay()
    torch.testing.assert_close(captured, mixture_costs(made, h, targets).mean(), rtol=1e-4, atol=0)
