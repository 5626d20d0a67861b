"""A language model with a continuous cache, for everything that reads, scores, writes or completes."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from elman.layers.cross_entropy import weighted_mean
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import State
from elman.tasks.language.cache import NOTHING, Cache
from elman.tasks.language.network import Network
from elman.tasks.language_model import LanguageModel
from elman.tasks.writing.verbs import Verbs
from elman.text.codec import Codec


class Cached(Verbs):
    """The model and a cache; the memory is part of the state, which is as large as the cache."""

    def __init__(self, lm: LanguageModel, cache: Cache) -> None:
        self.codec: Codec = lm.codec
        self.end = lm.end
        self.net = CachedNetwork(lm.net, cache)


class CachedNetwork(nn.Module):
    """Reads as the network does; what it returns for each token are all log-probabilities."""

    def __init__(self, net: Network, cache: Cache) -> None:
        super().__init__()
        self.net, self.cache = net, cache
        self.output = Said()

    def begin(self, rows: int) -> State:
        inner = self.net.begin(rows)
        like = next(self.net.parameters()).new_zeros(rows, self.net.layers.output_size)
        begun = torch.zeros(rows, dtype=torch.bool, device=like.device)
        return State(inner=inner, memory=self.cache.begin(like), h=like, begun=begun)

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
