"""Tags fed back: p(t | w) = Π_i p(t_i | w, t_{<i}), the tag of the word before enters the cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import proxy

import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot, pad

from elman.cells import Cell
from elman.decoding import AtLengths, Beam, History, Step
from elman.decoding.interfaces import FixedStep, StepParts
from elman.decoding.sequence_model import Blend
from elman.kernels.few_rows import linear_few
from elman.layers.crf import Constraints, Paths
from elman.layers.rnn import RNN
from elman.scan.fused_step import fuse_step, unrecordable_reason
from elman.scan.single_step import can_step, step_cell
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.tagger.heads import Mask, Outputs, TagIds, TagRows
from elman.tasks.temperature import Calibration


class AutoregressiveHead(nn.Module):
    """s_i = R(s_{i-1}, [y_i ; T t_{i-1}]),  p(t_i | w, t_{<i}) = softmax(V s_i).

    In training the tag before is the right one (teacher forcing). Answers are found by a beam; marginals are
    those of its hypotheses, weighed by probability: of a few sequences, which no temperature can calibrate.
    """

    def __init__(
        self, cell: Cell[Any], tags: int, allowed: Constraints | None, *, features: int, beam: int
    ) -> None:
        super().__init__()
        self.tags, self.allowed, self.beam = tags, allowed, beam
        self.T = nn.Embedding(tags + 1, features)  # the last row stands before the first tag
        self.read = RNN(cell)
        self.emit = nn.Linear(cell.output_size, tags)
        self.calibration = Calibration()

    def grow_from(self, small: AutoregressiveHead) -> None:
        """Further tags begin at random; what stands before the first tag is the last row again."""
        if self.tags > small.tags:
            nn.init.normal_(self.T.weight[small.tags : -1])
            self.T.weight[-1] = small.T.weight[-1]

    def loss(self, ys: Outputs, tags: TagIds, mask: Mask) -> Float[Tensor, " B"]:
        logits = self.emit(self.states(ys, tags, mask))
        each = cross_entropy(logits.float().transpose(1, 2), tags, reduction="none")
        return each.masked_fill(~mask, 0).sum(1)

    def states(self, ys: Outputs, tags: TagIds, mask: Mask) -> Float[Tensor, "B T S"]:
        """O(s_i) after these tags, from which each is predicted."""
        before = pad(tags, (1, 0), value=self.tags)[:, :-1]
        hs: Tensor = self.read(torch.cat([ys, self.T(before)], -1), mask)[0]
        return hs

    def open(self, ys: Outputs) -> tuple[Step[State], Blend, State]:
        """The step after a tag, that after a mixture of tags where some are negative, the first state."""

        def blend(state: State, tags: Tensor, weights: Tensor) -> tuple[State, Tensor]:
            mixed, given = weights @ self.T.weight[: self.tags], self.T(tags.clamp(min=0))
            return self.go_on(ys, state, torch.where((tags < 0)[:, None], mixed, given))

        row = torch.arange(len(ys), device=ys.device)
        fixed = unrecordable_reason(self.read.cell) is None and ys.dtype != torch.float64
        step: Step[State] = bind_step(self, ys)
        if fixed:
            head: Any = proxy(self)  # so that a recording, which is kept with the head, does not keep it
            step = FixedStep(step, lambda: StepParts(self, ys, lambda ys: bind_step(head, ys)))
        return step, blend, State(s=self.read.cell.initial(ys), place=torch.zeros_like(row), row=row)

    def go_on(self, ys: Tensor, state: State, fed: Tensor) -> tuple[State, Tensor]:
        """The next state and its logits, ``fed`` being the features of the tag before."""
        cell, here = self.read.cell, state.place.clamp(max=ys.shape[1] - 1)
        x = torch.cat([ys[state.row, here], fed], -1)
        if can_step(cell, len(x)):
            s, h = step_cell(cell, state.s, x)
            logits = linear_few(h, self.emit.weight, self.emit.bias)
        else:
            s = cell.step(state.s, cell.project(x))
            logits = self.emit(cell.output(s))
        return State(s=s, place=state.place + 1, row=state.row), logits

    @torch.no_grad()
    def n_best(self, ys: Outputs, mask: Mask, n: int) -> Paths:
        lengths = mask.sum(1)
        tags = lengths.new_zeros(len(ys), n, ys.shape[1])
        scores = ys.new_full((len(ys), n), -torch.inf)
        scores[lengths == 0, 0] = 0  # without words there is one path, the empty one
        (some,) = lengths.nonzero(as_tuple=True)
        if not len(some):
            return Paths(tags, scores)
        legal = () if self.allowed is None else (Legal(self.allowed, lengths[some]),)
        beam = Beam(width=max(n, self.beam), length_penalty=0, narrow=False, n_best=n)
        (step, _, state), start = self.open(ys[some]), torch.full_like(some, self.tags)
        stop, limit = AtLengths(lengths[some]), ys.shape[1]
        found = beam(step, state, start=start, stop=stop, limit=limit, constraints=legal)
        for row, hypotheses in zip(some.tolist(), found, strict=True):
            for rank, hypothesis in enumerate(hypotheses):
                tags[row, rank, : len(hypothesis.tokens)] = torch.tensor(hypothesis.tokens)
                scores[row, rank] = hypothesis.score
        return Paths(tags, scores)

    def best(self, ys: Outputs, mask: Mask) -> TagIds:
        return self.n_best(ys, mask, 1).tags[:, 0]

    def marginals(self, ys: Outputs, mask: Mask) -> Float[Tensor, "B T Y"]:
        paths = self.n_best(ys, mask, self.beam)
        weights = paths.scores.softmax(1)[:, :, None, None]
        return (weights * one_hot(paths.tags, self.tags)).sum(1) * mask[..., None]

    def pieces(self, ys: Outputs, mask: Mask, rows: TagRows) -> Float[Tensor, " N"]:
        paths = self.n_best(ys, mask, self.beam)
        differ = pad((paths.tags[rows.of] != rows.tags[:, None]).cumsum(2), (1, 0))
        row, start, stop = rows.spans.unbind(1)
        agree = differ[row, :, stop] == differ[row, :, start]
        return (paths.scores.softmax(1)[rows.of[row]] * agree).sum(1).log()


def bind_step(head: AutoregressiveHead, ys: Outputs) -> Step[State]:
    """The step after a tag, in sentences that were read."""

    def after(state: State, tags: Tensor) -> tuple[State, Tensor]:
        return head.go_on(ys, state, head.T(tags))

    return fuse_step(after)


@dataclass(frozen=True)
class Legal:
    """Only tags that a scheme lets follow the one before, in sentences of these lengths."""

    allowed: Constraints
    lengths: Int[Tensor, " B"]

    def __call__(self, written: History, logits: Float[Tensor, "N Y"]) -> Float[Tensor, "N Y"]:
        position = written.length
        allowed, device = self.allowed, logits.device
        begin, step, end = (part.to(device) for part in (allowed.begin, allowed.step, allowed.end))
        legal = step[written.last] if position else begin.expand_as(logits)
        last = self.lengths[written.sentence] <= position + 1
        legal = legal & (end | ~last[:, None])
        return logits.masked_fill(~legal, -torch.inf)
