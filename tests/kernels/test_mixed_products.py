"""Products under autocast: rounded to 16 bits once, and differentiated as often as one likes."""

import torch
from torch.nn.functional import linear

from elman.kernels.mixed_products import _MixedLinear


def round_and_multiply(x, W, b, dtype):
    return linear(*(t.to(dtype) for t in (x, W, b)))


def test_second_derivatives_are_those_of_the_rounded_product():
    torch.manual_seed(0)
    inputs, found = [torch.randn(4, 3), torch.randn(5, 3), torch.randn(5), torch.randn(4, 5)], []
    for multiply in (_MixedLinear.apply, round_and_multiply):
        x, W, b, seed = (t.clone().requires_grad_() for t in inputs)
        ys = multiply(x, W, b, torch.bfloat16)
        (dx,) = torch.autograd.grad(ys, x, seed.bfloat16(), create_graph=True)
        found.append([ys, dx, *torch.autograd.grad(dx.square().sum(), (W, seed))])
    for ours, plain in zip(*found, strict=True):
        assert torch.equal(ours, plain)
