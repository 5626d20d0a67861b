"""The continuous cache: words said lately are likely to come again (Grave, Joulin & Usunier 2017).

    p(w) = (1 - λ) p_model(w) + λ p_cache(w)
    p_cache(w | h_t) ∝ Σ_{i<t} 1{w_{i+1} = w} exp(θ h_t · h_i)

It needs no training: a memory holds the last pairs of an output h_i and the token w_{i+1} that followed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Annotated, Any

import torch

from elman.generation.cursor import start_cursor
from elman.generation.predictor import LMNetwork, LMPredictor, NetworkWrapper, WrappedLM
from elman.ranges import NonNegativeFloat, Range, Rate, check_ranges
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import State, eval_mode

NOTHING = -1  # in place of a token: this entry of a memory is empty


@dataclass(frozen=True)
class Cache:
    """How far it looks back, how much it prefers like outputs, and its share of the probability."""

    window: Annotated[int, Range(1, 10_000_000)] = 2000  # tokens
    theta: NonNegativeFloat = 0.5  # θ
    share: Rate = 0.15  # λ; 0: as without a cache

    def __post_init__(self) -> None:
        check_ranges(self)

    def begin(self, like: Float[Tensor, "B H"]) -> State:
        """A memory of nothing, for the rows of some outputs; like other states it is a value, of one size."""
        rows, size = like.shape
        tokens = torch.full((rows, self.window), NOTHING, device=like.device)
        return State(keys=like.new_zeros(rows, self.window, size), tokens=tokens)

    def nll(
        self, memory: Any, hs: Float[Tensor, "B T H"], targets: Int[Tensor, "B T"], plain: Float[Tensor, "B T"]
    ) -> tuple[State, Float[Tensor, "B T"]]:
        """The memory after these outputs, and what the targets cost, from what they cost the model."""
        keys, tokens = _append(memory, hs, targets)
        near = self._near(hs, keys, tokens, own=1)
        hit = near.masked_fill(tokens[:, None] != targets[..., None], -torch.inf)
        cached = hit.logsumexp(-1) - near.logsumexp(-1)
        return self._keep_window(keys, tokens), -self._mix(-plain, cached)

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
        keys, tokens = _append(memory, *read)
        near = self._near(hs, keys, tokens, own=0)
        weights = near.softmax(-1).nan_to_num(0.0)  # nothing to remember: no weight at all
        index = tokens.clamp(min=0)[:, None].expand_as(near)
        cached = torch.zeros_like(plain).scatter_add(-1, index, weights.to(plain.dtype))
        empty = near.isneginf().all(-1, keepdim=True)
        cached = torch.where(empty, torch.nan, cached.log())
        return self._keep_window(keys, tokens), self._mix(plain, cached)

    def _keep_window(self, keys: Float[Tensor, "B N H"], tokens: Int[Tensor, "B N"]) -> State:
        return State(keys=keys[:, -self.window :], tokens=tokens[:, -self.window :])

    def _near(
        self, hs: Float[Tensor, "B T H"], keys: Float[Tensor, "B N H"], tokens: Int[Tensor, "B N"], own: int
    ) -> Float[Tensor, "B T N"]:
        """θ h · key, -∞ where an entry is empty, too old, or not yet there: less than ``own`` steps back."""
        steps = hs.shape[1]
        ages = torch.arange(-steps, 0)[:, None] - torch.arange(-keys.shape[1], 0)
        fits = ((ages >= own) & (ages < self.window + own)).to(hs.device)
        seen: Bool[Tensor, "B T N"] = fits & (tokens != NOTHING)[:, None]
        return (self.theta * (hs @ keys.mT)).float().masked_fill(~seen, -torch.inf)

    def _mix(self, plain: Tensor, cached: Tensor) -> Tensor:
        """log of the mixture; where there is no p_cache (NaN), or no share of it, the model speaks alone."""
        if not self.share:
            return plain
        both = torch.logaddexp(plain + log(1 - self.share), cached + log(self.share))
        return torch.where(cached.isnan(), plain, both)


def _append(memory: Any, hs: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    return torch.cat((memory.keys, hs), 1), torch.cat((memory.tokens, tokens), 1)


def with_cache(lm: LMPredictor, cache: Cache) -> LMPredictor:
    """The model with a cache; the memory is part of the state, which is as large as the cache."""
    start = start_cursor(lm)
    with torch.no_grad(), eval_mode(lm.net) as net:
        _, hs = net.read(start.state, start.token[:, None])
        like = net.output.features(hs[:, 0])
    return WrappedLM(lm.tokenizer, CachedNetwork(lm.net, cache, like), lm.end)


class CachedNetwork(NetworkWrapper):
    """Reads as the network does, whose outputs are ``like`` this; it returns all log-probabilities."""

    def __init__(self, net: LMNetwork, cache: Cache, like: Float[Tensor, "1 H"]) -> None:
        super().__init__(net)
        self.cache, self.like, self.output = cache, like, LogProbOutput()

    def begin(self, rows: int) -> State:
        h = self.like.new_zeros(rows, self.like.shape[1])
        begun = torch.zeros(rows, dtype=torch.bool, device=h.device)
        return State(inner=self.net.begin(rows), memory=self.cache.begin(h), h=h, begun=begun)

    def read(
        self, state: Any, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[State, Float[Tensor, "B T V"]]:
        """Padding stands behind a row's tokens."""
        inner, seen = self.net.read(state.inner, ids, mask)
        hs = self.net.output.features(seen)
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        before = torch.cat((state.h[:, None], hs[:, :-1]), 1)
        known = real.clone()
        known[:, 0] &= state.begun  # no output led to the first token of all
        read = before, ids.where(known, NOTHING)
        plain = self.net.output.log_probabilities(seen)
        memory, log_probs = self.cache.log_probabilities(state.memory, hs, plain, read)
        count = real.sum(1)
        last = hs[torch.arange(len(hs), device=hs.device), (count - 1).clamp(min=0)]
        h = torch.where(count[:, None] > 0, last, state.h)
        return State(inner=inner, memory=memory, h=h, begun=state.begun | (count > 0)), log_probs

    def step(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[State, Float[Tensor, "B V"]]:
        state, log_probs = self.read(state, tokens[:, None])
        return state, log_probs[:, 0]


class LogProbOutput:
    """An output whose input are the log-probabilities."""

    def features(self, h: Float[Tensor, "*N V"]) -> Float[Tensor, "*N V"]:
        return h

    def log_probabilities(self, h: Float[Tensor, "*N V"]) -> Float[Tensor, "*N V"]:
        return h

    def nll(self, h: Float[Tensor, "*N V"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        return -h.gather(-1, targets[..., None])[..., 0]
