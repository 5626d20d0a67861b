"""The weights of the least loss, found by L-BFGS: of a linear model, and of a mixture of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.nn.functional import cross_entropy

from elman.layers.ngrams import Bags, NGramModel
from elman.shapes import Float, Tensor

_FEWEST = 20  # examples; fewer say nothing of a mixture
_ALIKE = 2.0  # nats of all examples that a model costs whose weight is 1 off
_SETTINGS = {
    "max_iter": 100,
    "history_size": 10,
    "tolerance_grad": 1e-5,
    "tolerance_change": 1e-6,
    "line_search_fn": "strong_wolfe",
}


def fit_linear(
    bags: Bags, start: NGramModel, loss: Callable[[Tensor], Tensor], C: float
) -> tuple[Float[Tensor, "F Y"], Float[Tensor, " Y"]]:
    """W and b that make the mean of -log p, which ``loss`` gives of logits, + |W|² / 2CN the least."""
    W, b = (weight.clone().requires_grad_() for weight in (start.W, start.b))
    texts_of, decay = bags.transpose(len(W)), 1 / (C * bags.texts)

    def evaluate() -> float:
        with torch.no_grad():
            z = bags.multiply(W) + b
        z.requires_grad_()
        value = loss(z)
        (slope,) = torch.autograd.grad(value, z)
        W.grad, b.grad = texts_of.multiply(slope) + decay * W.detach(), slope.sum(0)
        return value.item() + decay / 2 * W.detach().square().sum().item()

    minimize(evaluate, [W, b])
    return W.detach(), b.detach()


def fit_mixture(parts: Sequence[Float[Tensor, "N Y"]], loss: Callable[[Tensor], Tensor]) -> Float[Tensor, " M"]:
    """How much the logits of each model count in the mixture Σ wᵢ zᵢ of the least loss; none counts against.

    All count the same where examples are few; else they are drawn towards that, the more the fewer there are.
    """
    w = torch.full((len(parts),), 1 / len(parts), requires_grad=True)
    logits = torch.stack([*parts])
    if len(parts[0]) < _FEWEST:
        return w.detach()

    def evaluate() -> float:
        apart = (w.abs() - 1 / len(parts)).square().sum()
        value = loss(torch.tensordot(w.abs(), logits, 1)) + _ALIKE * apart / logits.shape[1]
        (w.grad,) = torch.autograd.grad(value, w)
        return value.item()

    minimize(evaluate, [w])
    return w.detach().abs()


def fit_dense(
    X: Float[Tensor, "N K"], gold: Float[Tensor, "N Y"], C: float
) -> tuple[Float[Tensor, "K Y"], Float[Tensor, " Y"]]:
    """W and b that make the mean of -Σ_y p_y log softmax(X W + b)_y + |W|² / 2CN the least."""
    W = X.new_zeros(X.shape[1], gold.shape[1], requires_grad=True)
    b = X.new_zeros(gold.shape[1], requires_grad=True)

    def evaluate() -> float:
        value = cross_entropy(X @ W + b, gold) + W.square().sum() / (2 * C * len(X))
        W.grad, b.grad = torch.autograd.grad(value, [W, b])
        return value.item()

    minimize(evaluate, [W, b])
    return W.detach(), b.detach()


def minimize(evaluate: Callable[[], float], weights: Sequence[Tensor]) -> None:
    """Change the weights until ``evaluate``, which gives the loss and sets their gradients, is the least."""
    torch.optim.LBFGS(weights, **_SETTINGS).step(evaluate)  # type: ignore[arg-type, no-untyped-call]
