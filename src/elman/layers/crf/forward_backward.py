"""Messages along a chain: what all ways to a tag add up to, how that changes with the scores, and log Z."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import pad

from elman.layers.crf import scaled_forward
from elman.layers.crf.chain import (
    FORBIDDEN,
    Chain,
    ChainCell,
    path_scores,
    require_paths,
    strip_boundary,
    trace,
    trace_alone,
)
from elman.operators import as_operator
from elman.scan import scan
from elman.second_derivatives import differentiate_plainly, needs_plain_form
from elman.shapes import Float, Tensor


def log_sum(ways: Float[Tensor, "B Z Z"]) -> Float[Tensor, "B Z"]:
    """log Σ exp over the tags that a move comes from."""
    peak = ways.amax(1, keepdim=True)
    # Below -80 a way no longer counts, and where it would underflow, exp is much slower.
    return (ways - peak).clamp(min=-80).exp().sum(1).log() + peak[:, 0]


def largest(ways: Float[Tensor, "B Z Z"]) -> Float[Tensor, "B Z"]:
    """max over the tags that a move comes from."""
    return ways.amax(1)


class Messages(ChainCell):
    """α_i(y) = ⊕_y' (α_{i-1}(y') - max α_{i-1} + moves(y', y)) + x_i(y), with ⊕ = ``total``.

    Every α is relative to the largest one of the place before it, so it loses no digits in a long chain.
    """

    def __init__(self, moves: Tensor, total: Callable[[Tensor], Tensor]) -> None:
        super().__init__(moves)
        self.total = total

    def initial(self, like: Tensor) -> Tensor:
        return pad(like.new_zeros(len(like), 1), (self.input_size - 1, 0), value=FORBIDDEN)

    def step(self, state: Tensor, x: Tensor) -> Tensor:
        alpha = state - state.amax(1, keepdim=True)
        return self.total(alpha[:, :, None] + self.moves) + x


def messages(
    chain: Chain, total: Callable[[Tensor], Tensor] = log_sum, *, reverse: bool = False
) -> Float[Tensor, "B L Z"]:
    """α at every place; in reverse, what the places from there to the end add up to."""
    cell = Messages(chain.moves.T if reverse else chain.moves, total)
    return scan(cell, chain.xs, reverse=reverse, executor="loop")[0]


def previous(alphas: Float[Tensor, "B L Z"]) -> Float[Tensor, "B L Z"]:
    """α_{i-1} at each place i; the boundary stands before the first."""
    start = pad(alphas.new_zeros(len(alphas), 1, 1), (alphas.shape[2] - 1, 0), value=FORBIDDEN)
    return torch.cat([start, alphas[:, :-1]], 1)


def total_of(alphas: Float[Tensor, "B L Z"]) -> Tensor:
    """What all paths add up to, in float64: the sum of what the messages were made relative to."""
    return alphas.amax(2).sum(1, dtype=torch.float64)


def sum_all_paths(xs: Float[Tensor, "B L Z"], moves: Float[Tensor, "Z Z"]) -> Float[Tensor, " B"]:
    """log Z in float64, step by step."""
    return total_of(messages(Chain(xs, moves)))


class Posterior(ChainCell):
    """From p(y_i) to p(y_{i-1}), reading α_{i-1}; beside it, how often each move was made up to here.

    p(y', y) = softmax_y'(α_{i-1}(y') + moves(y', y)) p(y)      p(y') = Σ_y p(y', y)
    """

    def initial(self, like: Tensor) -> tuple[Tensor, Tensor]:
        return super().initial(like), like.new_zeros(len(like), *self.moves.shape)

    def step(self, state: tuple[Tensor, Tensor], x: Tensor) -> tuple[Tensor, Tensor]:
        p, made = state
        both = torch.softmax(x[:, :, None] + self.moves, 1) * p[:, None]
        return both.sum(2), made + both

    def output(self, state: tuple[Tensor, Tensor]) -> Tensor:
        return state[0]


def posterior(alphas: Float[Tensor, "B L Z"], moves: Float[Tensor, "Z Z"]) -> tuple[Tensor, Tensor]:
    """p(y_i) at each place (B, L, Z), and the expected number of each move in each row (B, Z, Z)."""
    cell = Posterior(moves)
    ys, (_, made) = scan(cell, previous(alphas), reverse=True, executor="loop")
    return torch.cat([ys[:, 1:], cell.initial(alphas)[0][:, None]], 1), made


class _LogPartition(torch.autograd.Function):
    """log Z, whose gradient is the posterior: ∂ log Z / ∂ xs_i(y) = p(y_i = y), and so for the moves.

    Autograd through the scan gives the same, but keeps B·L·Z² numbers and takes about twice as long.
    """

    @staticmethod
    def forward(ctx: Any, xs: Tensor, moves: Tensor) -> Tensor:
        alphas = messages(Chain(xs, moves))
        ctx.save_for_backward(xs, moves, alphas)
        return total_of(alphas)

    @staticmethod
    def backward(ctx: Any, weight: Tensor) -> tuple[Tensor | None, ...]:
        xs, moves, alphas = ctx.saved_tensors
        if torch.is_grad_enabled():
            return differentiate_plainly(sum_all_paths, (xs, moves), (weight,))
        p, made = posterior(alphas, moves)
        weight = weight.to(p.dtype)[:, None, None]
        return p * weight, (made * weight).sum(0)


def log_partition(chain: Chain) -> Float[Tensor, " B"]:
    """log Σ exp(score) over all paths, in float64."""
    if needs_plain_form():
        return sum_all_paths(*chain)
    return crf_log_partition([*chain])[0]


@as_operator(lambda tensors: [tensors[0].new_empty(len(tensors[0]), dtype=torch.float64)])
def crf_log_partition(tensors: list[Tensor]) -> list[Tensor]:
    xs, moves = tensors
    function = scaled_forward.ScaledLogPartition if scaled_forward.worthwhile(moves) else _LogPartition
    return [function.apply(xs, moves)]  # type: ignore[no-untyped-call]


@as_operator(lambda tensors: [tensors[0].new_empty(*tensors[2].shape, tensors[0].shape[2] - 1)])
def crf_marginals(tensors: list[Tensor]) -> list[Tensor]:
    """p(y_i) at each position, from a chain and its mask."""
    xs, moves, mask = tensors
    alphas = messages(Chain(xs, moves))
    require_paths(total_of(alphas), mask)
    return [posterior(alphas, moves)[0][:, :-1, :-1]]


def _viterbi_shapes(tensors: list[Tensor]) -> list[Tensor]:
    xs, _, mask = tensors
    return [mask.new_empty(mask.shape, dtype=torch.long), xs.new_empty(len(xs))]


@as_operator(_viterbi_shapes)
def crf_viterbi(tensors: list[Tensor]) -> list[Tensor]:
    """The tags of the best path and its score, from a chain and its mask."""
    xs, moves, mask = tensors
    alone = len(xs) == 1 and xs.device.type == "cpu" and not needs_plain_form()
    path = trace_alone(xs[0], moves)[None] if alone else trace(messages(Chain(xs, moves), largest), moves)
    score = path_scores(Chain(xs, moves), path[..., None])[:, 0]
    require_paths(score, mask)
    return [strip_boundary(path, mask), score.to(xs.dtype)]
