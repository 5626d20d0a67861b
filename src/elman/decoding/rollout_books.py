"""What a recorded rollout keeps in memory that stays where it is: what was written, and who goes on."""

from __future__ import annotations

from typing import NamedTuple

import torch

from elman.decoding.interfaces import PADDING
from elman.decoding.recorded_stop import EndRule
from elman.shapes import Bool, Float, Int, Tensor


class Lead(NamedTuple):
    """What was written before the first recorded step."""

    tokens: Int[Tensor, "B P"]
    log_probs: Float[Tensor, "B P"]
    mask: Bool[Tensor, "B P"]
    live: Bool[Tensor, " B"]


class RolloutBooks(NamedTuple):
    """The same as lists of turns, in tensors with room for all steps."""

    tokens: Int[Tensor, "B T"]
    log_probs: Float[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]
    live: Bool[Tensor, " B"]
    token: Int[Tensor, " B"]  # what the next step reads
    stuck: Int[Tensor, " B"]  # one more than the place where all was forbidden; else 0
    place: Int[Tensor, 1]  # steps that were taken
    ends: Int[Tensor, " E"]  # tokens that end a row
    lengths: Int[Tensor, " B"]  # tokens after which a row ends in any case

    @classmethod
    def open(cls, start: Int[Tensor, " B"], rule: EndRule, limit: int, room: int) -> RolloutBooks:
        """Before the first step; there is ``room`` for the limit, or for more."""
        rows, device = len(start), start.device
        lengths = torch.full_like(start, limit)
        for some in rule.lengths:
            lengths = torch.minimum(lengths, some.to(device))
        return cls(
            tokens=start.new_full((rows, room), PADDING),
            log_probs=torch.zeros(rows, room, device=device),
            mask=torch.zeros(rows, room, dtype=torch.bool, device=device),
            live=torch.ones_like(start, dtype=torch.bool),
            token=start.clone(),
            stuck=torch.zeros_like(start),
            place=start.new_zeros(1),
            ends=torch.tensor(rule.ends, dtype=torch.long, device=device),
            lengths=lengths.clamp(min=1),
        )

    def begin_after(self, lead: Lead) -> None:
        """Go on behind what was written before."""
        count = lead.tokens.shape[1]
        for whole, part in (
            (self.tokens, lead.tokens),
            (self.log_probs, lead.log_probs),
            (self.mask, lead.mask),
        ):
            whole[:, :count] = part
        self.live.copy_(lead.live)
        self.token.copy_(torch.where(lead.live, lead.tokens[:, -1], PADDING))
        self.place.fill_(count)

    @property
    def changing(self) -> tuple[Tensor, ...]:
        """All but the rules."""
        return tuple(self)[:-2]

    def enter(
        self, chosen: Int[Tensor, " B"], log_probs: Float[Tensor, " B"], allowed: Float[Tensor, "B V"]
    ) -> None:
        """Write down the tokens of this place, and find out who goes on."""
        if chosen.is_cuda:
            from elman.decoding.row_kernels import book

            book(self, chosen, log_probs, allowed)
        else:
            self._enter(chosen, log_probs, allowed)
            self.place.add_(1)

    def _enter(self, chosen: Tensor, log_probs: Tensor, allowed: Tensor) -> None:
        live, place = self.live.clone(), self.place
        one = torch.where(live, chosen, PADDING)
        forbidden = live & (allowed.gather(1, one[:, None])[:, 0] == float("-inf")) & (self.stuck == 0)
        self.stuck.copy_(torch.where(forbidden, place + 1, self.stuck))
        self.tokens.index_copy_(1, place, one[:, None])
        self.log_probs.index_copy_(1, place, torch.where(live, log_probs.float(), 0)[:, None])
        self.mask.index_copy_(1, place, live[:, None])
        ended = (one[:, None] == self.ends).any(1) | (place + 1 >= self.lengths)
        self.live.copy_(live & ~ended)
        self.token.copy_(torch.where(self.live, one, PADDING))
