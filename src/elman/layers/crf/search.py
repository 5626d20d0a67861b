"""Single paths of a chain: the best one, one drawn at random, the best n."""

from __future__ import annotations

from typing import NamedTuple

import torch

from elman.layers.crf.chain import FORBIDDEN, Chain
from elman.shapes import Bool, Float, Int, Tensor


class Paths(NamedTuple):
    """Tags (B, T) or (B, K, T), zero in the padding, and the score of each path, (B,) or (B, K)."""

    tags: Tensor
    scores: Tensor


def trace(alphas: Float[Tensor, "B L Z"], moves: Float[Tensor, "Z Z"]) -> Int[Tensor, "B L"]:
    """From the boundary at the end back to the first place: y_{i-1} = argmax_y α_{i-1}(y) + moves(y, y_i).

    With the messages of ``largest`` this is the best path (Viterbi). With those of ``log_sum`` and Gumbel noise
    on each it is a path drawn from all: the largest of a + noise is distributed as softmax(a).
    """
    into = moves.T.contiguous()
    tag = torch.full((len(alphas),), len(moves) - 1, device=alphas.device)
    path = [tag]
    for alpha in reversed(alphas[:, :-1].unbind(1)):
        tag = (alpha + into.index_select(0, tag)).argmax(1)
        path.append(tag)
    return torch.stack(path[::-1], 1)


def gumbel(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Noise -log(-log u), shaped like ``like``."""
    waiting = torch.empty_like(like).exponential_(generator=generator)
    # A draw of zero would be infinite noise, enough to lift what is forbidden.
    return -waiting.clamp(min=torch.finfo(like.dtype).tiny).log()


def best_paths(chain: Chain, n: int) -> tuple[Int[Tensor, "B L K"], Bool[Tensor, "B K"]]:
    """The n best paths by keeping the n best ways to each tag (list Viterbi), and which of them there are.

    A way is numbered rank · Z + tag. Where there are fewer than n paths, anything fills the places.
    """
    rows, _, size = chain.xs.shape
    best = chain.xs.new_full((rows, n, size), FORBIDDEN)
    best[:, 0, -1] = 0
    sources = []
    for x in chain.xs.unbind(1):
        best = best - best.amax((1, 2), keepdim=True)
        ways = (best[..., None] + chain.moves).flatten(1, 2)
        best, source = ways.topk(n, dim=1)
        best = best + x[:, None]
        sources.append(source.flatten(1))
    there = best[:, :, -1] > FORBIDDEN / 2
    way = torch.arange(n, device=best.device).expand(rows, n) * size + size - 1
    path = [way]
    for source in reversed(sources[1:]):
        way = source.gather(1, way)
        path.append(way)
    return torch.stack(path[::-1], 1) % size, there
