"""What a recorded beam search keeps in memory that stays where it is: ``width`` places for each sentence."""

from __future__ import annotations

from typing import NamedTuple

import torch

from elman.decoding.interfaces import PADDING
from elman.decoding.recorded_stop import EndRule
from elman.decoding.stable_topk import stable_topk
from elman.shapes import Float, Int, Tensor

NOBODY, LIVE, ENDED = 0, 1, 2  # what became of a place
_ROOM = 64  # steps: for any limit up to so many more there is one recording


class BeamBooks(NamedTuple):
    """The hypotheses of B sentences, N = B · width places in all, and what was in them at each of T steps;
    there may be room for more of these than are taken."""

    width: int
    narrow: bool
    log_factor: float
    score: Float[Tensor, " N"]  # float64; -inf where nobody goes on
    token: Int[Tensor, " N"]  # what the next step reads
    parent: Int[Tensor, " N"]  # the place of whom each continues, among all
    places: Int[Tensor, " B"]  # in each beam
    place: Int[Tensor, 1]  # steps that were taken
    tokens: Int[Tensor, "T N"]
    parents: Int[Tensor, "T N"]  # the place of whom each continues, within its sentence
    log_probs: Float[Tensor, "T N"]
    scores: Float[Tensor, "T N"]  # float64
    fates: Tensor  # (T, N) int8
    ends: Int[Tensor, " E"]
    lengths: Int[Tensor, " B"]

    @classmethod
    def open(
        cls, start: Int[Tensor, " B"], rule: EndRule, limit: int, width: int, narrow: bool, log_factor: float
    ) -> BeamBooks:
        """Before the first step: one hypothesis a sentence, in its first place."""
        rows, device = len(start) * width, start.device
        score = torch.full((len(start), width), float("-inf"), dtype=torch.float64, device=device)
        score[:, 0] = 0
        lengths = torch.full_like(start, limit)
        for some in rule.lengths:
            lengths = torch.minimum(lengths, some.to(device))
        room = -(-limit // _ROOM) * _ROOM
        history = start.new_zeros(2, room, rows)
        return cls(
            width=width,
            narrow=narrow,
            log_factor=log_factor,
            score=score.flatten(),
            token=start.repeat_interleave(width),
            parent=torch.arange(rows, device=device),
            places=torch.full_like(start, width),
            place=start.new_zeros(1),
            tokens=history[0],
            parents=history[1],
            log_probs=torch.zeros(room, rows, device=device),
            scores=torch.zeros(room, rows, dtype=torch.float64, device=device),
            fates=torch.zeros(room, rows, dtype=torch.int8, device=device),
            ends=torch.tensor(rule.ends, dtype=torch.long, device=device),
            lengths=lengths,
        )

    @property
    def changing(self) -> tuple[Tensor, ...]:
        """What a step changes, and a rehearsal must not."""
        return self.score, self.token, self.parent, self.places, self.place

    def enter(self, logits: Float[Tensor, "N V"]) -> None:
        """Take the best continuations, and write them down; ``parent`` says whose states go on."""
        if logits.is_cuda:
            from elman.decoding.beam_kernels import advance

            advance(self, logits)
        else:
            self._enter(logits)
        self.place.add_(1)

    def _enter(self, logits: Tensor) -> None:
        B, K = len(self.places), self.width
        log_probs = logits.log_softmax(-1, dtype=torch.float32)
        values, found = stable_topk(log_probs, K)
        grid = (self.score[:, None] + values.double()).view(B, -1)
        # Of equal scores the earlier hypothesis comes first, then the lower token.
        offered, which = grid.sort(dim=1, descending=True, stable=True)
        offered, which = offered[:, :K], which[:, :K]
        rank = torch.arange(K, device=logits.device)
        near = (offered >= offered[:, :1] - self.log_factor) | (rank == 0)
        kept = near & (rank < self.places[:, None]) & (offered > float("-inf"))
        owner = which // values.shape[1]
        token, gain = (part.view(B, -1).gather(1, which) for part in (found, values))
        length = self.place + 1
        ended = (token[..., None] == self.ends).any(-1) | (length >= self.lengths)[:, None]
        goes_on = kept & ~ended
        fates = torch.where(kept, torch.where(ended, ENDED, LIVE), NOBODY)
        for whole, part in (
            (self.tokens, token),
            (self.parents, owner),
            (self.log_probs, gain),
            (self.scores, offered),
            (self.fates, fates),
        ):
            whole.index_copy_(0, self.place, part.reshape(1, -1).to(whole.dtype))
        self.score.copy_(torch.where(goes_on, offered, float("-inf")).flatten())
        self.token.copy_(torch.where(goes_on, token, PADDING).flatten())
        self.parent.copy_((owner + K * torch.arange(B, device=owner.device)[:, None]).flatten())
        if self.narrow:
            self.places.sub_((kept & ended).sum(1))
