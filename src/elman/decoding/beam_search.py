"""The loop of beam search. Completed hypotheses are kept, and their length penalty applied, in `hypotheses`.

The device computes the best continuations of each hypothesis; the books are kept in float64 on the CPU,
which has to decide in any case what to compute next. So every device searches alike, it is waited for
once a step, and what has left the beam is never computed again. The books are arrays of numpy, whose calls
cost a fraction of torch's on a handful of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np
import torch

from elman.decoding.constraints import constrain
from elman.decoding.hypotheses import BeamLayer, BeamState, Floats, Ints
from elman.decoding.interfaces import Constraint, Step, Stop
from elman.decoding.stable_topk import stable_topk
from elman.decoding.tree_history import TokenLayer, TreeHistory
from elman.kernels.token_ranking import rank_rows
from elman.shapes import Int, Tensor
from elman.state import S, pick


@dataclass(frozen=True)
class Frontier(Generic[S]):
    """The hypotheses that go on, N in all, in order of sentence and then of score."""

    state: S
    token: Int[Tensor, " N"]  # what the step reads next
    node: Ints  # their numbers in the last layer
    sentence: Ints
    score: Floats


class Offers(NamedTuple):
    """The continuations of all hypotheses, those of a sentence in order of score: a prefix of them is kept."""

    scores: Floats  # (B, C), -inf where there is nothing
    place: Ints  # (B, C) number of the hypothesis within its sentence, times k, plus the rank of the token
    sentence: Ints  # (N,) of each hypothesis
    node: Ints  # (N,) its number in the layer before
    token: Ints  # (N, k)
    log_prob: Floats  # (N, k) of the model


class Advance(NamedTuple):
    """One step of the search: what was offered, and what was kept of it."""

    layer: BeamLayer
    offered: Offers
    width: Ints  # (B,) the places that there were
    closed: dict[int, str]  # why the search of a sentence ended here


@dataclass(frozen=True)
class BeamSearch(Generic[S]):
    """How hypotheses are continued and when they end."""

    step: Step[S]
    stop: Stop
    limit: int
    constraints: Sequence[Constraint]
    log_factor: float

    def run(self, state: S, start: Int[Tensor, " B"], beams: BeamState) -> Iterator[Advance]:
        """Step by step until no sentence has anything left to search."""
        rows = np.arange(len(start))
        front = Frontier(state, start, rows, rows, np.zeros(len(rows)))
        tree: list[TokenLayer] = []
        for length in range(1, self.limit + 1):
            if not len(front.node):
                return
            width = beams.width.copy()
            state, values, tokens, log_probs = self._continue(front, tree, beams.most)
            scores, place, (sentence, row, column) = select(front, values, width, self.log_factor)
            offered = Offers(scores, place, front.sentence, front.node, tokens, log_probs)
            token = tokens[row, column]
            tree.append((front.node[row], token))
            score = front.score[row] + values[row, column]
            written = TreeHistory(tree, np.arange(len(token)), torch.from_numpy(sentence))
            ended = self.stop(written).numpy() if length < self.limit else np.ones(len(sentence), np.bool_)
            layer = BeamLayer(sentence, front.node[row], token, log_probs[row, column], score, ended)
            closed = beams.enter(layer, length)
            live = (~ended & beams.open[sentence]).nonzero()[0]
            state = pick(state, torch.from_numpy(row[live]).to(start.device))
            read = torch.from_numpy(token[live]).to(start.device)
            front = Frontier(state, read, live, sentence[live], score[live])
            yield Advance(layer, offered, width, closed)

    @torch.no_grad()
    def _continue(
        self, front: Frontier[S], tree: list[TokenLayer], count: int
    ) -> tuple[S, Floats, Ints, Floats]:
        """The new state; the best continuations of each hypothesis: what they add to its score, tokens, and
        the model's log-probabilities, all (N, k)."""
        state, logits = self.step(front.state, front.token)
        ranked = None if self.constraints else rank_rows(logits, count)
        if ranked is not None:
            added, best = ranked[0].numpy().astype(np.float64), ranked[1].numpy()
            return state, added, best, added
        dtype = torch.float64 if logits.dtype == torch.float64 else torch.float32
        log_probs = logits.log_softmax(-1, dtype=dtype)
        if not self.constraints:
            values, tokens = stable_topk(log_probs, count)
            added = values.cpu().numpy().astype(np.float64)
            return state, added, tokens.cpu().numpy(), added
        written = TreeHistory(tree, front.node, torch.from_numpy(front.sentence).to(log_probs.device))
        values, tokens = stable_topk(constrain(self.constraints, written, log_probs), count)
        added, plain = (x.cpu().numpy().astype(np.float64) for x in (values, log_probs.gather(1, tokens)))
        return state, added, tokens.cpu().numpy(), plain


def select(
    front: Frontier[S], values: Floats, width: Ints, log_factor: float
) -> tuple[Floats, Ints, tuple[Ints, Ints, Ints]]:
    """All scores of each sentence in order, and whose they are; sentence, row and column of what is kept.

    Of equal scores the earlier hypothesis comes first, then the lower token.
    """
    sentence, count = front.sentence, values.shape[1]
    first = np.searchsorted(sentence, np.arange(len(width)))
    slot = np.arange(len(sentence)) - first[sentence]
    grid = np.full((len(width), slot.max() + 1, count), -np.inf)
    grid[sentence, slot] = front.score[:, None] + values
    grid = grid.reshape(len(width), -1)
    place = np.argsort(-grid, axis=1, kind="stable")
    offered = np.take_along_axis(grid, place, 1)
    rank = np.arange(grid.shape[1])
    near = (offered >= offered[:, :1] - log_factor) | (rank == 0)
    kept = near & (rank < width[:, None]) & (offered > -np.inf)
    owner, rank = kept.nonzero()
    chosen = place[owner, rank]
    return offered, place, (owner, first[owner] + chosen // count, chosen % count)
