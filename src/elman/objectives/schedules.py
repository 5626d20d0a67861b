"""How the probability of teacher forcing falls while a run goes on: p(x) for the share x that is done.

The curves of Bengio et al. (2015), from ``first`` at x = 0 to ``last`` at x = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

Curve = Callable[[float, float, float], float]  # x, first, last -> p

_STEEP = 10.0  # of the inverse sigmoid: how much of the run the fall takes


def constant(x: float, first: float, last: float) -> float:
    """p = last, from the beginning on."""
    return last


def linear(x: float, first: float, last: float) -> float:
    """The same step down in every update."""
    return first + (last - first) * x


def exponential(x: float, first: float, last: float) -> float:
    """p = k^i of the paper: the same factor in every update."""
    return float(first * (last / first) ** x)


def inverse_sigmoid(x: float, first: float, last: float) -> float:
    """p = k / (k + e^(i/k)) of the paper, a logistic curve: slow, quick around the middle, slow."""
    high, here, low = (1 / (1 + exp(_STEEP * (at - 0.5))) for at in (0.0, x, 1.0))
    return last + (first - last) * (here - low) / (high - low)


CURVES: dict[str, Curve] = {
    "constant": constant,
    "linear": linear,
    "inverse_sigmoid": inverse_sigmoid,
    "exponential": exponential,
}
