"""Losses of a softmax and of a mixture, from a tensor of all logits."""

import torch
from torch.nn import functional as F

from elman.layers.embedding import Embedding
from elman.layers.mixture import Mixture


def problem(count, size, vocabulary, *, dtype=torch.float64, device="cpu"):
    draw = {"dtype": dtype, "device": device}
    h, W = torch.randn(count, size, **draw), torch.randn(vocabulary, size, **draw)
    leaves = [x.requires_grad_() for x in (h, W, torch.randn(vocabulary, **draw))]
    return leaves, torch.randint(vocabulary, (count,), device=device)


def whole(h, W, b, targets, smoothing=0.0):
    z = F.linear(h, W, b)
    return F.cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)


def relative(one, other):
    return ((one - other).norm() / other.norm().clamp(min=1e-30)).item()


def mixture(size=5, vocabulary=7, width=None, count=3, **options) -> Mixture:
    tied = Embedding(vocabulary, width).double() if width else None
    made = Mixture(size, vocabulary, tied, count=count, **options).double()
    for weight in [*made.parameters(), *(tied.parameters() if tied else ())]:
        torch.nn.init.normal_(weight)
    return made


def mixture_costs(made: Mixture, h, targets):
    """The costs from a tensor of all logits."""
    z = torch.nn.functional.linear(made.vectors(h), made.softmax.W, made.softmax.b)
    p = (made.log_shares(h).exp()[..., None] * z.softmax(-1)).sum(-2)
    return -p.gather(-1, targets[..., None])[..., 0].log()
