"""Linear-chain conditional random field (Lafferty et al. 2001): sequences of tags, scored as a whole.

score(y | x) = begin(y_1) + Σ_i x_i(y_i) + Σ_i transitions(y_{i-1}, y_i) + end(y_n)
p(y | x) = exp(score(y | x)) / Z
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from elman.errors import ModelError
from elman.layers.crf.chain import (
    FORBIDDEN,
    Chain,
    Paths,
    best_paths,
    crf_path,
    frame,
    gumbel,
    path_scores,
    require_paths,
    require_spans,
    square,
    strip_boundary,
    trace,
    where_possible,
)
from elman.layers.crf.forward_backward import (
    crf_marginals,
    crf_viterbi,
    log_partition,
    messages,
    previous,
    total_of,
)
from elman.shapes import Bool, Float, Int, Tensor

__all__ = ["CRF", "Constraints", "Paths"]


@dataclass(frozen=True)
class Constraints:
    """Which tags may come first, which may follow which (from, to), which may come last."""

    begin: Bool[Tensor, " Y"]
    step: Bool[Tensor, "Y Y"]
    end: Bool[Tensor, " Y"]


class CRF(nn.Module):
    """Scores x_i(y) (B, T, Y) in, probabilities of tag sequences and the best of them out.

    The model is trained free of constraints (``log_likelihood``), so that a gold sequence that breaks them is
    learnt from like any other and no loss is infinite. All else asks for p(y | x, y is allowed):
    what is forbidden has probability zero and is never decoded or drawn. To train with the constraints,
    where the gold is known to keep them, maximise ``log_probability``.

    It computes in float32 at least, under autocast too. A row without tokens has one path, the empty one, of
    score 0. Padding may hold anything. A gap in the mask ends one sequence and begins another.
    """

    def __init__(self, tags: int, allowed: Constraints | None = None) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(tags, tags))
        self.begin = nn.Parameter(torch.zeros(tags))
        self.end = nn.Parameter(torch.zeros(tags))
        if allowed is None:
            yes = torch.ones(tags, dtype=torch.bool)
            allowed = Constraints(yes, yes.expand(tags, tags), yes)
        elif allowed.begin.shape != (tags,):
            raise ModelError(f"the constraints are for {len(allowed.begin)} tags, the CRF is for {tags}")
        self.register_buffer("allowed", square(allowed.step, allowed.begin, allowed.end, stay=1))

    def log_likelihood(
        self, scores: Float[Tensor, "B T Y"], tags: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> Float[Tensor, " B"]:
        """log p(tags | x) without constraints: finite whatever the tags, the quantity to train with."""
        chain = frame(scores, mask, self._moves())
        path = self._path(tags, mask)
        return (path_scores(chain, path)[:, 0] - log_partition(chain)).to(chain.xs.dtype)

    def log_probability(
        self, scores: Float[Tensor, "B T Y"], tags: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> Float[Tensor, " B"]:
        """log p(tags | x, allowed); -inf where the tags break the constraints."""
        chain = self._constrain(scores, mask)
        score = path_scores(chain, self._path(tags, mask))[:, 0]
        return where_possible(score, score - log_partition(chain)).to(chain.xs.dtype)

    def log_partition(
        self, scores: Float[Tensor, "B T Y"], mask: Bool[Tensor, "B T"], temperature: float = 1.0
    ) -> Float[Tensor, " B"]:
        """log Z = log Σ exp(score / temperature) over all allowed paths; -inf where there is none."""
        chain = self._constrain(scores, mask, temperature)
        found = log_partition(chain)
        return where_possible(found, found).to(chain.xs.dtype)

    def marginals(
        self, scores: Float[Tensor, "B T Y"], mask: Bool[Tensor, "B T"], temperature: float = 1.0
    ) -> Float[Tensor, "B T Y"]:
        """p(y_i | x, allowed) at each position, where p ∝ exp(score / temperature); zero in the padding."""
        return crf_marginals([*self._constrain(scores, mask, temperature), mask])[0]

    def pieces(
        self,
        scores: Float[Tensor, "B T Y"],
        tags: Int[Tensor, "B T"],
        mask: Bool[Tensor, "B T"],
        spans: Int[Tensor, "N 3"],
        temperature: float = 1.0,
    ) -> Float[Tensor, " N"]:
        """For each span (row, start, stop), log p(tags of that row in [start, stop) | x, allowed).

        The confidence in a piece of a path, whatever the tags elsewhere. p(y_i … y_j) is p(y_j) times all
        p(y_{k-1} | y_k), and that is softmax(α_{k-1} + moves(·, y_k)).
        """
        row, start, stop = spans.unbind(1)
        require_spans(spans, mask)
        chain = self._constrain(scores, mask, temperature)
        path = self._path(tags, mask)
        alphas, back = messages(chain), messages(chain, reverse=True)
        require_paths(total_of(alphas), mask)
        alone = (alphas + back - chain.xs).log_softmax(2).gather(2, path)[..., 0]
        linked = (previous(alphas) + chain.moves.T[path[..., 0]]).log_softmax(2)
        links = linked[:, 1:].gather(2, path[:, :-1])[..., 0]
        place = torch.arange(links.shape[1], device=links.device)
        inside = (place >= start[:, None]) & (place < stop[:, None] - 1)
        found = alone[row, stop - 1] + links[row].masked_fill(~inside, 0).sum(1)
        return where_possible(found, found)

    @torch.no_grad()
    def viterbi(self, scores: Float[Tensor, "B T Y"], mask: Bool[Tensor, "B T"]) -> Paths:
        """The best allowed path of each row."""
        return Paths(*crf_viterbi([*self._constrain(scores, mask), mask]))

    @torch.no_grad()
    def n_best(self, scores: Float[Tensor, "B T Y"], mask: Bool[Tensor, "B T"], n: int) -> Paths:
        """The n best allowed paths of each row, best first, no two alike.

        Where a row has fewer, the score of the rest is -inf and their tags mean nothing (zeros).
        """
        if n < 1:
            raise ModelError(f"n_best gives one path or more, not {n}")
        chain = self._constrain(scores, mask)
        paths, there = best_paths(chain, n)
        score = path_scores(chain, paths).masked_fill(~there, FORBIDDEN)
        score, order = score.sort(1, descending=True)
        require_paths(score[:, 0], mask)
        tags = paths.transpose(1, 2).take_along_dim(order[..., None], 1)
        real = (score > FORBIDDEN / 2)[..., None] & mask[:, None]
        return Paths(strip_boundary(tags, real), where_possible(score, score).to(chain.xs.dtype))

    @torch.no_grad()
    def sample(
        self,
        scores: Float[Tensor, "B T Y"],
        mask: Bool[Tensor, "B T"],
        count: int,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "B K T"]:
        """``count`` paths of each row, drawn from p(y | x, allowed); zero in the padding."""
        chain = self._constrain(scores, mask)
        alphas = messages(chain)
        require_paths(total_of(alphas), mask)
        alphas = alphas.repeat_interleave(count, 0)
        paths = trace(alphas + gumbel(alphas, generator), chain.moves)
        return strip_boundary(paths.view(len(mask), count, paths.shape[1]), mask[:, None])

    def _path(self, tags: Tensor, mask: Tensor) -> Tensor:
        return crf_path([tags, mask], len(self.begin))[0]

    def _moves(self) -> Tensor:
        moves = square(self.transitions, self.begin, self.end, stay=0)
        return moves.to(torch.promote_types(moves.dtype, torch.float32))  # float16 has no room for FORBIDDEN

    def _constrain(self, scores: Tensor, mask: Tensor, temperature: float = 1.0) -> Chain:
        moves = (self._moves() / temperature).masked_fill(~self.get_buffer("allowed"), FORBIDDEN)
        return frame(scores / temperature, mask, moves)
