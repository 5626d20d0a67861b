"""A language model with a continuous cache, for everything that reads, scores, writes or completes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import State
from elman.tasks.language.cache import NOTHING, Cache
from elman.tasks.writing.predictor import Around, Predictor, Reader, beginning, reading


def cached(lm: Predictor, cache: Cache) -> Predictor:
    """The model with a cache; the memory is part of the state, which is as large as the cache."""
    start = beginning(lm)
    with reading(lm) as net:
        _, hs = net.read(start.state, start.token[:, None])
    return Around(lm.codec, CachedNetwork(lm.net, cache, hs[:, 0]), lm.end)


class CachedNetwork(nn.Module):
    """Reads as the network does, whose outputs are ``like`` this; it returns all log-probabilities."""

    def __init__(self, net: Reader, cache: Cache, like: Float[Tensor, "1 H"]) -> None:
        super().__init__()
        self.net, self.cache, self.like = net, cache, like
        self.output = Said()
        self.train(net.training)

    def begin(self, rows: int) -> State:
        h = self.like.new_zeros(rows, self.like.shape[1])
        begun = torch.zeros(rows, dtype=torch.bool, device=h.device)
        return State(inner=self.net.begin(rows), memory=self.cache.begin(h), h=h, begun=begun)

    def read(
        self, state: Any, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[State, Float[Tensor, "B T V"]]:
        """Padding stands behind a row's tokens."""
        inner, hs = self.net.read(state.inner, ids, mask)
        real = torch.ones_like(ids, dtype=torch.bool) if mask is None else mask
        before = torch.cat((state.h[:, None], hs[:, :-1]), 1)
        known = real.clone()
        known[:, 0] &= state.begun  # no output led to the first token of all
        read = before, ids.where(known, NOTHING)
        plain = self.net.output.log_probabilities(hs)
        memory, log_probs = self.cache.log_probabilities(state.memory, hs, plain, read)
        count = real.sum(1)
        last = hs[torch.arange(len(hs), device=hs.device), (count - 1).clamp(min=0)]
        h = torch.where(count[:, None] > 0, last, state.h)
        after = State(inner=inner, memory=memory, h=h, begun=state.begun | (count > 0))
        return after, log_probs

    def step(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[State, Float[Tensor, "B V"]]:
        state, log_probs = self.read(state, tokens[:, None])
        return state, log_probs[:, 0]


class Said(nn.Module):
    """An output whose input are the log-probabilities."""

    def logits(self, h: Float[Tensor, "*N V"]) -> Float[Tensor, "*N V"]:
        return h

    def log_probabilities(self, h: Float[Tensor, "*N V"]) -> Float[Tensor, "*N V"]:
        return h

    def nats(self, h: Float[Tensor, "*N V"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        return -h.gather(-1, targets[..., None])[..., 0]

    def loss(
        self, h: Float[Tensor, "*N V"], targets: Int[Tensor, "*N"], weights: Tensor | None = None
    ) -> Float[Tensor, ""]:
        return weighted_mean(self.nats(h, targets), weights)
