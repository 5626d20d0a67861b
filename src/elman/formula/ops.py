"""The operations of formulas, one entry each: name, tensors, derivative, then C, Triton, text, LaTeX, torch.

A new operation is one entry here and a test. Names without an underscore are the vocabulary of formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from elman.formula.operation import Op
from elman.formula.symbols import VOCABULARY
from elman.shapes import Tensor


def _either(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors also for a tensor and a number."""

    def compute(a: Any, b: Any) -> Tensor:
        like = a if isinstance(a, Tensor) else b
        return function(*(c if isinstance(c, Tensor) else like.new_tensor(c) for c in (a, b)))

    return compute


def _share(a: Any, b: Any) -> Any:
    """Of the gradient of max(a, b) that a gets: all, half where they are equal, none."""
    return 0.5 + 0.5 * _sign(a - b)


def _gelu_slope(a: Any) -> Any:
    """Φ(a) + a φ(a) of the normal distribution."""
    density = exp(-0.5 * (a * a)) * (1 / math.sqrt(2 * math.pi))
    return 0.5 + 0.5 * _erf(a * math.sqrt(0.5)) + a * density


# fmt: off
# These occur in derivatives only.
_sum = Op("sum", lambda a: a.sum(-1, keepdim=True), None, torch="torch.sum({0}, -1, keepdim=True)",
          traits="kept reduction")
_erf = Op("erf", torch.erf, None, "erf({0})", "tl.erf({0})")
_sign = Op("sign", torch.sign, None, "(real)(({0} > 0) - ({0} < 0))")
_is_positive = Op("is_positive", lambda a: (a > 0).to(a.dtype), None, "({0} > 0 ? (real)1 : (real)0)",
                  torch="({0} > 0).to({0}.dtype)")

# These are written by operators.
_add = Op("add", torch.add, lambda g, y, a, b: (g, g), "{0} + {1}",
          torch="torch.add({0}, {1})", traits="commutative", lanes="{0} + {1}")
_sub = Op("sub", torch.sub, lambda g, y, a, b: (g, -g), "{0} - {1}",
          torch="torch.sub({0}, {1})", scalar="{0} - {1}", lanes="{0} - {1}")
_mul = Op("mul", torch.mul, lambda g, y, a, b: (g * b, g * a), "{0} * {1}", "{0} * {1}",
          torch="torch.mul({0}, {1})", traits="commutative", lanes="{0} * {1}")
_div = Op("div", torch.div, lambda g, y, a, b: (g * (1 / b), -(g * (y * (1 / b)))), "{0} / {1}", "{0} / {1}",
          "{0} / {1}", r"\frac{{{0}}}{{{1}}}", "torch.div({0}, {1})", "{0} / {1}", "kept", lanes="{0} / {1}")
_pow = Op("pow", torch.pow, lambda g, y, a, n: (g * (n * a ** (n - 1)), 0), "pow({0}, {1})", "",
          "{0}^{1}", "{0}^{{{1}}}", "torch.pow({0}, {1})", traits="kept")
_neg = Op("neg", torch.neg, lambda g, y, a: -g, "-{0}", "-{0}", lanes="-{0}")
_abs = Op("abs", torch.abs, lambda g, y, a: g * _sign(a), "fabs({0})", "tl.abs({0})", "|{0}|", "|{0}|")

sigmoid = Op("sigmoid", torch.sigmoid, lambda g, y, a: g * (y * (1 - y)), "1 / (1 + exp(-{0}))",
             "tl.sigmoid({0})", "σ({0})", r"\sigma({0})", traits="activation kept inplace")
tanh = Op("tanh", torch.tanh, lambda g, y, a: g * (1 - y * y), "tanh({0})", "2 * tl.sigmoid(2 * {0}) - 1",
          traits="activation kept copied")
relu = Op("relu", torch.relu, lambda g, y, a: g * _is_positive(y), "({0} < 0 ? 0 : {0})", "", "ReLU({0})",
          r"\mathrm{{ReLU}}({0})", "torch.clamp_min({0}, 0)",  # torch.relu has no out
          traits="activation kept inplace")
exp = Op("exp", torch.exp, lambda g, y, a: g * y, "exp({0})", "tl.exp({0})", traits="activation kept copied")
softplus = Op("softplus", lambda a: functional.softplus(a, 1, 40), lambda g, y, a: g * sigmoid(a),
              "({0} > 0 ? {0} : 0) + log1p(exp(-fabs({0})))", "", "softplus({0})", r"\mathrm{{softplus}}({0})",
              "torch.nn.functional.softplus({0}, 1, 40)", traits="activation kept")  # 40: exact in float64
silu = Op("silu", functional.silu, lambda g, y, a: g * (sigmoid(a) + y * (1 - sigmoid(a))),
          "{0} / (1 + exp(-{0}))", "", "SiLU({0})", r"\mathrm{{SiLU}}({0})", "{0} * torch.sigmoid({0})",
          traits="activation kept")
gelu = Op("gelu", functional.gelu, lambda g, y, a: g * _gelu_slope(a),
          "(real)0.5 * {0} * (1 + erf({0} * sqrt((real)0.5)))", "", "GELU({0})", r"\mathrm{{GELU}}({0})",
          "torch.nn.functional.gelu({0})", traits="activation kept")
softmax = Op("softmax", lambda a: torch.softmax(a, -1), lambda g, y, a: y * (g - _sum(g * y)),
             latex=r"\mathrm{{softmax}}({0})", torch="torch.softmax({0}, -1)", traits="activation kept")
log = Op("log", torch.log, lambda g, y, a: g * (1 / a), "log({0})", "tl.log({0})", traits="kept")
log_sigmoid = Op("log_sigmoid", functional.logsigmoid, lambda g, y, a: g * sigmoid(-a),
                 "({0} < 0 ? {0} : 0) - log1p(exp(-fabs({0})))", "", "log σ({0})", r"\log \sigma({0})",
                 "torch.nn.functional.logsigmoid({0})", traits="kept")
sqrt = Op("sqrt", torch.sqrt, lambda g, y, a: g * (0.5 / y), "sqrt({0})", "tl.sqrt({0})", "√({0})",
          r"\sqrt{{{0}}}", traits="kept")
rsqrt = Op("rsqrt", torch.rsqrt, lambda g, y, a: g * (-0.5 * (y * (y * y))), "1 / sqrt({0})", "", "1/√({0})",
           r"\frac{{1}}{{\sqrt{{{0}}}}}", traits="kept")
maximum = Op("maximum", _either(torch.maximum), lambda g, y, a, b: (g * _share(a, b), g * _share(b, a)),
             "({0} > {1} || {0} != {0} ? {0} : {1})", "tl.where(({0} > {1}) | ({0} != {0}), {0}, {1})",
             "max({0}, {1})", r"\max({0}, {1})",
             "torch.maximum({0}, {1})", "torch.clamp_min({0}, {1})", "commutative")
minimum = Op("minimum", _either(torch.minimum), lambda g, y, a, b: (g * _share(b, a), g * _share(a, b)),
             "({0} < {1} || {0} != {0} ? {0} : {1})", "tl.where(({0} < {1}) | ({0} != {0}), {0}, {1})",
             "min({0}, {1})", r"\min({0}, {1})",
             "torch.minimum({0}, {1})", "torch.clamp_max({0}, {1})", "commutative")
clamp_min = Op("clamp_min", torch.clamp_min, lambda g, y, a, low: (g * (1 - _is_positive(low - a)), 0),
               "({0} < {1} ? {1} : {0})", "tl.where({0} < {1}, {1}, {0})", "max({0}, {1})", r"\max({0}, {1})",
               "torch.clamp_min({0}, {1})")
clamp_max = Op("clamp_max", torch.clamp_max, lambda g, y, a, high: (g * (1 - _is_positive(a - high)), 0),
               "({0} > {1} ? {1} : {0})", "tl.where({0} > {1}, {1}, {0})", "min({0}, {1})", r"\min({0}, {1})",
               "torch.clamp_max({0}, {1})")
# Over the units, at every unit: the symmetric matrix 11ᵀ/H, so its own transpose.
mean: Op = Op("mean", lambda a: a.mean(-1, keepdim=True), lambda g, y, a: mean(g),
              latex=r"\mathrm{{mean}}({0})", torch="torch.mean({0}, -1, keepdim=True)", traits="kept reduction")
# fmt: on


def clamp(a: Any, low: float, high: float) -> Any:
    """a between two numbers; its gradient is that of torch, also at the bounds."""
    return clamp_max(clamp_min(a, low), high)


VOCABULARY += [n for n, op in list(globals().items()) if isinstance(op, Op) and n[0] != "_"]
