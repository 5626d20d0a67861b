"""The functions a formula may use: of tensors they are computed, of symbols they are written down."""

from __future__ import annotations

from typing import Any

from elman.formula.symbols import NUMBERS, Node, unary


def _of(op: str, a: Any) -> Any:
    """The operation on a symbol, a number or a tensor."""
    if isinstance(a, Node):
        return unary(op, a)
    return NUMBERS[op](float(a)) if isinstance(a, int | float) else getattr(a, op)()


def sigmoid(a: Any) -> Any:
    """σ(a) = 1 / (1 + exp(-a))"""
    return _of("sigmoid", a)


def tanh(a: Any) -> Any:
    return _of("tanh", a)


def relu(a: Any) -> Any:
    """max(0, a)"""
    return _of("relu", a)


def exp(a: Any) -> Any:
    return _of("exp", a)


def rsqrt(a: Any) -> Any:
    """1 / √a"""
    return _of("rsqrt", a)


def mean(a: Any) -> Any:
    """The mean over the units of a layer, at every unit: what layer normalisation needs."""
    return _of("mean", a) if isinstance(a, Node | int | float) else a.mean(-1, keepdim=True)
