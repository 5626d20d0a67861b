"""A chain of tags, the score of a path through it, and single paths: the best, one drawn, the best n.

A chain is framed by one more tag, the boundary, numbered Y: a path leaves it at the first token (begin),
returns to it after the last (end), and stays there through the padding at no cost. So the first step, the
last one, the padding and the empty sequence are steps like all others. L = T + 1 places, Z = Y + 1 tags.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch.nn.functional import pad

from elman.cells import Cell
from elman.cuda_graph import is_recording
from elman.errors import ModelError
from elman.operators import as_operator
from elman.second_derivatives import needs_plain_form
from elman.shapes import Bool, Float, Int, Tensor

# Finite, so that no difference of two of them is NaN; nothing that is allowed comes near it.
FORBIDDEN = -1e30


class Chain(NamedTuple):
    """The score of each tag at each place (B, L, Z) and of each move from a tag to the next (Z, Z)."""

    xs: Tensor
    moves: Tensor


class ChainCell(Cell[Any]):
    """A recursion along a chain, which begins at the boundary."""

    def __init__(self, moves: Tensor) -> None:
        super().__init__()
        self.input_size = self.output_size = len(moves)
        self.moves = moves

    def initial(self, like: Tensor) -> Any:
        return pad(like.new_ones(len(like), 1), (self.input_size - 1, 0))

    def project(self, x: Tensor) -> Any:
        return x

    def output(self, state: Any) -> Tensor:
        return cast(Tensor, state)


def square(step: Tensor, begin: Tensor, end: Tensor, stay: float) -> Tensor:
    """All moves (from, to) in one matrix, whose last row and column are the boundary's."""
    corner = torch.cat([end, end.new_full((1,), stay)])
    return torch.cat([torch.cat([step, begin[None]]), corner[:, None]], 1)


def frame(scores: Tensor, mask: Tensor, moves: Float[Tensor, "Z Z"]) -> Chain:
    """The chain of these scores: padding, and the place after the last token, hold the boundary only."""
    tags = len(moves) - 1
    if scores.dim() != 3 or scores.shape[2] != tags:
        raise ModelError(f"scores must be (batch, time, {tags} tags), got {tuple(scores.shape)}")
    if mask.dtype != torch.bool or mask.shape != scores.shape[:2]:
        expected, given = tuple(scores.shape[:2]), tuple(mask.shape)
        raise ModelError(f"mask must be bool {expected} like scores, got {mask.dtype} {given}")
    dtype = torch.promote_types(torch.promote_types(scores.dtype, moves.dtype), torch.float32)
    boundary = torch.arange(tags + 1, device=mask.device) == tags
    possible = boundary != pad(mask, (0, 1))[..., None]
    xs = pad(scores.to(dtype), (0, 1, 0, 1)).masked_fill(~possible, FORBIDDEN)
    return Chain(xs, moves.to(dtype))


def add_boundary(
    tags: Int[Tensor, "B T K"], mask: Bool[Tensor, "B T"], boundary: int
) -> Int[Tensor, "B T+1 K"]:
    """Paths (B, L, K) as they run through a chain."""
    return pad(tags.masked_fill(~mask[..., None], boundary), (0, 0, 0, 1), value=boundary)


@as_operator(lambda tensors, boundary: [tensors[0].new_empty(len(tensors[0]), tensors[0].shape[1] + 1, 1)])
def crf_path(tensors: list[Tensor], boundary: int) -> list[Tensor]:
    """Given tags (B, T) as a path (B, L, 1), from them and the mask; an error for what is no tag."""
    tags, mask = tensors
    tags = check_tags(tags, mask, boundary)
    return [add_boundary(tags[..., None], mask, boundary)]


def check_tags(tags: Tensor, mask: Bool[Tensor, "B T"], count: int) -> Int[Tensor, "B T"]:
    """The tags; an error if their shape is not the mask's, or one is not below ``count`` where it is true."""
    if tags.shape != mask.shape:
        raise ModelError(f"tags must be {tuple(mask.shape)} like the mask, got {tuple(tags.shape)}")
    if is_recording():  # a CUDA graph: nobody may look at its values
        return tags
    wrong = mask & ((tags < 0) | (tags >= count))
    if needs_plain_form():  # nor at those of vmap: torch refuses a number beyond the boundary where it is read
        return tags.masked_fill(wrong, count + 1)
    if wrong.any():
        row, place = wrong.nonzero()[0].tolist()
        tag = int(tags[row, place])
        raise ModelError(f"tag {tag} in row {row} at position {place}: tags are numbers from 0 to {count - 1}")
    return tags


def path_scores(chain: Chain, paths: Int[Tensor, "B L K"]) -> Tensor:
    """Σ_i xs_i(y_i) + moves(y_{i-1}, y_i) of each path (B, K), summed in float64."""
    before = pad(paths[:, :-1], (0, 0, 1, 0), value=len(chain.moves) - 1)
    steps = chain.xs.gather(2, paths) + chain.moves[before, paths]
    return steps.sum(1, dtype=torch.float64)


def where_possible(score: Tensor, value: Tensor) -> Tensor:
    """``value``, but -inf where the score says that something forbidden was done."""
    return value.masked_fill(score < FORBIDDEN / 2, -torch.inf)


def require_paths(score: Float[Tensor, " B"], mask: Bool[Tensor, "B T"]) -> None:
    """An error where even the best path, or all together, did something forbidden."""
    none = score < FORBIDDEN / 2
    if none.any():
        length = int(mask[none].sum(1)[0])
        raise ModelError(f"the constraints allow no sequence of {length} tags")


def strip_boundary(paths: Tensor, mask: Tensor) -> Tensor:
    """Paths (…, L) without their last place, the boundary, and with zeros where the mask is false."""
    return paths[..., :-1].masked_fill(~mask, 0)


def require_spans(spans: Int[Tensor, "N 3"], mask: Bool[Tensor, "B T"]) -> None:
    """An error for a span (row, start, stop) that is empty or leaves its sequence."""
    row, start, stop = spans.unbind(1)
    wrong = (start < 0) | (start >= stop) | (stop > mask.sum(1)[row])
    if wrong.any():
        row, start, stop = spans[wrong][0].tolist()
        length = int(mask[row].sum())
        raise ModelError(f"no span [{start}, {stop}) in row {row}, which has {length} tokens")


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


def trace_alone(xs: Float[Tensor, "L Z"], moves: Float[Tensor, "Z Z"]) -> Int[Tensor, " L"]:
    """The best path of one chain: what `trace` finds of the messages of ``largest``, number by number.

    By numpy, whose calls cost a fraction of torch's on so little.
    """
    rows, steps = xs.detach().numpy(), moves.detach().numpy()
    alpha = np.full(len(steps), FORBIDDEN, rows.dtype)
    alpha[-1] = 0
    alphas = []
    for x in rows:
        alpha = (steps + (alpha - alpha.max())[:, None]).max(0) + x
        alphas.append(alpha)
    path, into = [len(steps) - 1], np.ascontiguousarray(steps.T)
    for alpha in reversed(alphas[:-1]):
        path.append(int((alpha + into[path[-1]]).argmax()))
    return torch.tensor(path[::-1])


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
