"""Counted n-grams with interpolated modified Kneser-Ney smoothing (Chen & Goodman 1999)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from elman.layers.ngram_counts import count_ngrams
from elman.shapes import Float, Int, Tensor

_UNSEEN = -1  # in place of the number of a context: it was never seen


class KneserNey(nn.Module):
    """p_k(w | h) = (c(h w) - D) / c(h) + γ(h) p_{k-1}(w | h'),    p_0(w) = 1 / V

    h are the k - 1 tokens before, h' those without the first, and γ(h) is what the discounts D leave over. The
    c of the longest n-grams are their counts, that of a shorter one is how many kinds of token stand before it.
    After an h that was never seen p_k is p_{k-1}.

    The context of a place are the numbers of the last 1, 2, … tokens, which `follow` knows: one search tells
    whether h w was seen, and all that ever followed h lies side by side.
    """

    def __init__(self, vocabulary: int, sizes: Sequence[int]) -> None:
        super().__init__()
        self.vocabulary, self.order = vocabulary, len(sizes)
        for k, (contexts, size) in enumerate(pairwise([1, *sizes]), start=1):
            self.register_buffer(f"keys_{k}", torch.zeros(size, dtype=torch.int64))
            self.register_buffer(f"shares_{k}", torch.zeros(size))  # (c(h w) - D) / c(h)
            self.register_buffer(f"backoffs_{k}", torch.zeros(contexts))  # γ(h)

    @classmethod
    def fit(
        cls, ids: NDArray[Any], vocabulary: int, *, order: int = 5, first: int = 0, least: int = 1
    ) -> KneserNey:
        """The n-grams of a text before which ``first`` stands.

        Those of three tokens and more that occur less than ``least`` times are left to the shorter ones.
        """
        levels = count_ngrams(ids, vocabulary, order, first, least)
        made = cls(vocabulary, [len(level.keys) for level in levels])
        for k, level in enumerate(levels, start=1):
            for name, values in level._asdict().items():
                made._part(name, k).copy_(torch.from_numpy(values))
        return made

    @property
    def count(self) -> int:
        """How many n-grams there are, of all orders."""
        return sum(len(self._part("keys", k)) for k in range(1, self.order + 1))

    def widen(self, vocabulary: int) -> KneserNey:
        """The same n-grams for a larger vocabulary; a further token has what is left for those never seen."""
        sizes = [len(self._part("keys", k)) for k in range(1, self.order + 1)]
        wide = KneserNey(vocabulary, sizes).to(self._part("keys", 1).device)
        for k in range(1, self.order + 1):
            keys = self._part("keys", k)
            number, token = keys.div(self.vocabulary, rounding_mode="floor"), keys % self.vocabulary
            wide._part("keys", k).copy_(number * vocabulary + token)
            for name in ("shares", "backoffs"):
                wide._part(name, k).copy_(self._part(name, k))
        return wide

    def begin(self, rows: int) -> Int[Tensor, "B C"]:
        """The contexts of texts of which nothing is known yet."""
        return torch.full((rows, self.order - 1), _UNSEEN, device=self._part("keys", 1).device)

    def follow(self, context: Int[Tensor, "B C"], ids: Int[Tensor, "B T"]) -> Int[Tensor, "B T C"]:
        """The context after each of some tokens."""
        before = torch.zeros_like(ids)
        after = []
        for k in range(1, self.order):
            after.append(self._find(k, before, ids))
            before = torch.cat([context[:, k - 1 : k], after[-1][:, :-1]], 1)
        return torch.stack(after, -1) if after else context[:, None].expand(*ids.shape, 0)

    def nll(self, contexts: Int[Tensor, "*N C"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        """-log p of a token after each context."""
        p = self._part("shares", 1).new_full(targets.shape, 1 / self.vocabulary)
        for k, context in enumerate(self._each(contexts), start=1):
            found = self._find(k, context, targets)
            share = self._part("shares", k)[found.clamp(min=0)].masked_fill(found < 0, 0)
            p = share + self._backoff(k, context) * p
        return -p.log()

    def text_nll(self, ids: NDArray[Any], first: int) -> Float[Tensor, " T"]:
        """-log p of each token of a text before which ``first`` stands."""
        targets = torch.from_numpy(np.asarray(ids, np.int64)).to(self._part("keys", 1).device)[None]
        before = torch.cat([torch.full_like(targets[:, :1], first), targets[:, :-1]], 1)
        return self.nll(self.follow(self.begin(1), before), targets)[0]

    def probabilities(self, contexts: Int[Tensor, "*N C"]) -> Float[Tensor, "*N V"]:
        """p of all tokens after each context."""
        flat = contexts.flatten(end_dim=-2)
        p = self._part("shares", 1).new_full((len(flat), self.vocabulary), 1 / self.vocabulary)
        for k, context in enumerate(self._each(flat), start=1):
            keys = self._part("keys", k)
            begin, end = (torch.searchsorted(keys, (context + i) * self.vocabulary) for i in (0, 1))
            rows = torch.arange(len(flat), device=flat.device).repeat_interleave(end - begin)
            skipped = (end - begin).cumsum(0) - end  # places of the rows before, less where the keys begin
            places = torch.arange(len(rows), device=flat.device) - skipped[rows]
            p = self._backoff(k, context)[:, None] * p
            p[rows, keys[places] % self.vocabulary] += self._part("shares", k)[places]
        return p.view(*contexts.shape[:-1], -1)

    def _each(self, contexts: Int[Tensor, "*N C"]) -> list[Tensor]:
        """The numbers of the last 0, 1, … tokens."""
        return [contexts.new_zeros(contexts.shape[:-1]), *contexts.unbind(-1)]

    def _find(self, k: int, context: Int[Tensor, "*N"], tokens: Int[Tensor, "*N"]) -> Int[Tensor, "*N"]:
        """The numbers of h w, for the numbers of h."""
        keys, asked = self._part("keys", k), context * self.vocabulary + tokens
        place = torch.searchsorted(keys, asked).clamp(max=len(keys) - 1)
        return place.where((keys[place] == asked) & (context >= 0), _UNSEEN)

    def _backoff(self, k: int, context: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        return self._part("backoffs", k)[context.clamp(min=0)].masked_fill(context < 0, 1)

    def _part(self, name: str, k: int) -> Tensor:
        return self.get_buffer(f"{name}_{k}")
