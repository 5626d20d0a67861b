"""The continuous cache: words said lately are likely to come again (Grave, Joulin & Usunier 2017).

    p(w) = (1 - λ) p_model(w) + λ p_cache(w)
    p_cache(w | h_t) ∝ Σ_{i<t} 1{w_{i+1} = w} exp(θ h_t · h_i)

It needs no training: a memory holds the last pairs of an output h_i and the token w_{i+1} that followed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import torch

from elman.errors import ConfigError
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import State

NOTHING = -1  # in place of a token: this entry of a memory is empty


@dataclass(frozen=True)
class Cache:
    """How far it looks back, how much it prefers like outputs, and its share of the probability."""

    window: int = 2000  # tokens
    theta: float = 0.5  # θ
    share: float = 0.15  # λ; 0: as without a cache

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ConfigError(f"window is {self.window}; it must be at least 1")
        if not 0 <= self.share < 1:
            raise ConfigError(f"share is {self.share}; it must be at least 0 and below 1")

    def begin(self, like: Float[Tensor, "B H"]) -> State:
        """A memory of nothing, for the rows of some outputs; like other states it is a value, of one size."""
        rows, size = like.shape
        tokens = torch.full((rows, self.window), NOTHING, device=like.device)
        return State(keys=like.new_zeros(rows, self.window, size), tokens=tokens)

    def remember(
        self, memory: Any, hs: Float[Tensor, "B T H"], tokens: Int[Tensor, "B T"]
    ) -> State:
        """The memory after some more outputs and the tokens that followed them."""
        keys, tokens = _joined(memory, hs, tokens)
        return State(keys=keys[:, -self.window :], tokens=tokens[:, -self.window :])

    def nats(
        self,
        memory: Any,
        hs: Float[Tensor, "B T H"],
        targets: Int[Tensor, "B T"],
        plain: Float[Tensor, "B T"],
    ) -> tuple[State, Float[Tensor, "B T"]]:
        """The memory after these outputs, and what the targets cost, from what they cost the model."""
        keys, tokens = _joined(memory, hs, targets)
        near = self._near(hs, keys, tokens, own=1)
        hit = near.masked_fill(tokens[:, None] != targets[..., None], -torch.inf)
        cached = hit.logsumexp(-1) - near.logsumexp(-1)
        return self.remember(memory, hs, targets), -self._mixed(-plain, cached)

    def log_probabilities(
        self,
        memory: Any,
        hs: Float[Tensor, "B T H"],
        plain: Float[Tensor, "B T V"],
        read: tuple[Float[Tensor, "B T H"], Int[Tensor, "B T"]],
    ) -> tuple[State, Float[Tensor, "B T V"]]:
        """The memory, and the log-probabilities of all tokens after each output, from the model's.

        ``read`` are the tokens that led to these outputs, and the outputs before them: each is remembered
        before the next token is predicted.
        """
        keys, tokens = _joined(memory, *read)
        near = self._near(hs, keys, tokens, own=0)
        weights = near.softmax(-1).nan_to_num(0.0)  # nothing to remember: no weight at all
        index = tokens.clamp(min=0)[:, None].expand_as(near)
        cached = torch.zeros_like(plain).scatter_add(-1, index, weights.to(plain.dtype))
        empty = near.isneginf().all(-1, keepdim=True)
        cached = torch.where(empty, torch.nan, cached.log())
        return self.remember(memory, *read), self._mixed(plain, cached)

    def _near(
        self,
        hs: Float[Tensor, "B T H"],
        keys: Float[Tensor, "B N H"],
        tokens: Int[Tensor, "B N"],
        own: int,
    ) -> Float[Tensor, "B T N"]:
        """θ h · key, -∞ where an entry is empty, too old, or not yet there: less than ``own`` steps back."""
        steps = hs.shape[1]
        ages = torch.arange(-steps, 0)[:, None] - torch.arange(-keys.shape[1], 0)
        fits = ((ages >= own) & (ages < self.window + own)).to(hs.device)
        seen: Bool[Tensor, "B T N"] = fits & (tokens != NOTHING)[:, None]
        return (self.theta * (hs @ keys.mT)).float().masked_fill(~seen, -torch.inf)

    def _mixed(self, plain: Tensor, cached: Tensor) -> Tensor:
        """log of the mixture; where there is no p_cache (NaN), or no share of it, the model speaks alone."""
        if not self.share:
            return plain
        both = torch.logaddexp(plain + log(1 - self.share), cached + log(self.share))
        return torch.where(cached.isnan(), plain, both)


def _joined(memory: Any, hs: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat((memory.keys, hs), 1), torch.cat((memory.tokens, tokens), 1)
