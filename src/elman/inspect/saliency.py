"""Which tokens an answer rests on: gradient × input.

What is explained is log p(answer) - log p(the next best one). A probability by itself hardly moves where the
answer is sure, whatever its reasons; and what speaks for both answers counts for neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from elman.shapes import Float, Tensor

Shares = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Saliency:
    """What each token says for ``answer`` rather than ``other``, in nats; below zero it speaks against it."""

    of: str  # what was asked: the text, or one of its words
    answer: str
    other: str
    shares: Shares  # (T,)

    @property
    def title(self) -> str:
        return f"{visible_token(self.of)}: {visible_token(self.answer)} rather than {visible_token(self.other)}"


def visible_token(token: str) -> str:
    """A token that can be seen, on one line."""
    if token.isspace() and token.isprintable():
        return "␣" * len(token)
    return token.replace("\n", "⏎").replace("\t", "⇥")


def gradient_x_input(embed: nn.Module, score: Callable[[], Float[Tensor, " N"]]) -> Shares:
    """(N, T): for each score and token, x · ∂score/∂x, x being what ``embed`` gives for the token.

    ``score`` runs ``embed`` once, on one text. Of a score that is linear in all x, the shares of the tokens
    add up to it, less its constant part.
    """
    xs, scores = _run(embed, score)
    rows = []
    for one in scores:
        (gradient,) = torch.autograd.grad(one, xs, retain_graph=True)
        rows.append((gradient * xs.detach()).double().sum(-1).flatten().cpu().numpy())
    return np.stack(rows)


def batch_gradient_x_input(embed: nn.Module, score: Callable[[], Float[Tensor, " N"]]) -> Shares:
    """(R, T): the same for many texts, one a row. Each score must rest on rows that no other rests on."""
    xs, scores = _run(embed, score)
    (gradient,) = torch.autograd.grad(scores.sum(), xs)
    shares: Shares = (gradient * xs.detach()).double().sum(-1).cpu().numpy()
    return shares


def _run(embed: nn.Module, score: Callable[[], Tensor]) -> tuple[Tensor, Tensor]:
    """What ``embed`` gave, as a leaf of the graph, and the scores that rest on it."""
    seen: list[Tensor] = []

    def cut(module: nn.Module, given: Any, xs: Tensor) -> Tensor:
        seen.append(xs.detach().requires_grad_())
        return seen[-1]

    watch = embed.register_forward_hook(cut)
    try:
        with torch.enable_grad():
            scores = score()
    finally:
        watch.remove()
    (xs,) = seen
    return xs, scores
