"""What sampling may choose from: logits to logits, -inf for what is left out.

Probabilities are the softmax of the logits that a filter is given, so a filter after another sees
what the first has left. Of equal logits the lower token is kept first.
"""

from __future__ import annotations

import math

import torch

from elman.decoding.order import best
from elman.shapes import Bool, Float, Int, Tensor

_FEW = (256, 4096)  # sorting a whole vocabulary costs many times as much as finding these


def temperature(logits: Float[Tensor, "B V"], t: float) -> Float[Tensor, "B V"]:
    """p' ∝ p^(1/t): below 1 the likely becomes likelier, above 1 less so."""
    return logits / t


def top_k(logits: Float[Tensor, "B V"], k: int) -> Float[Tensor, "B V"]:
    """The k likeliest tokens."""
    _, tokens = best(logits, k)
    return _only(logits, tokens, torch.ones_like(tokens, dtype=torch.bool))


def top_p(logits: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """The fewest likeliest tokens whose probabilities sum to at least p (Holtzman et al. 2020)."""
    probabilities = logits.softmax(-1, dtype=torch.float64)
    for count in (*_FEW, logits.shape[1]):
        _, tokens = best(logits, count)
        mass = probabilities.gather(1, tokens).cumsum(-1)
        if count >= logits.shape[1] or bool((mass[:, -1] >= p).all()):
            break
    before = torch.nn.functional.pad(mass[:, :-1], (1, 0))
    return _only(logits, tokens, before < p)


def min_p(logits: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """The tokens at least p times as likely as the likeliest (Nguyen et al. 2024)."""
    floor = logits.amax(-1, keepdim=True) + math.log(p)
    return logits.masked_fill(logits < floor, float("-inf"))


def _only(
    logits: Float[Tensor, "B V"], tokens: Int[Tensor, "B k"], kept: Bool[Tensor, "B k"]
) -> Float[Tensor, "B V"]:
    mask = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, tokens, kept)
    return logits.masked_fill(~mask, float("-inf"))
