"""Run a step forward, feeding back the tokens that a policy chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Unpack

import torch

from elman.decoding.constraints import constrain
from elman.decoding.interfaces import PADDING, Constraint, History, Limits, Policy, Step, Stop
from elman.decoding.recorded_rollout import RecordedRollout, find_recording
from elman.decoding.rollout_books import Lead
from elman.errors import ModelError, check_option
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import S, keep

_PATIENCE = 8  # steps between two looks at an accelerator, each of which would have to wait for it


@dataclass(frozen=True)
class Rollout(Generic[S]):
    """What was written, one row a sequence, its end included; after the end padding and zeros."""

    tokens: Int[Tensor, "B T"]
    log_probs: Float[Tensor, "B T"]  # of the model, whatever policy and constraints made of it
    mask: Bool[Tensor, "B T"]
    state: S  # of each row before it reads its last token: step(state, last token) goes on


@dataclass(frozen=True)
class Turn(Generic[S]):
    """One position of all rows."""

    tokens: Int[Tensor, " B"]  # what was chosen; padding where the row had ended before
    logits: Float[Tensor, "B V"]  # of the model
    mask: Bool[Tensor, " B"]  # false where the row had ended before
    state: S  # from which the logits come; where the mask is false, as it was


def rollout(step: Step[S], state: S, policy: Policy, **limits: Unpack[Limits]) -> Rollout[S]:
    """Write until each row has ended by itself or has ``limit`` tokens; gradients flow if they are enabled.

    Finished rows read padding and keep their state. On a GPU a `FixedStep` is recorded and replayed, unless
    something has to be done in Python between steps (`find_recording` says what).
    """
    if limits["start"].is_cuda:
        recorded = find_recording(step, policy, **limits)
        if not isinstance(recorded, str):
            return replay_rollout(recorded, policy, state, **limits)
    tokens, log_probs, mask = [], [], []
    for turn in unroll(step, state, policy, **limits):
        tokens.append(turn.tokens)
        logits = turn.logits if turn.logits.dtype == torch.float64 else turn.logits.float()
        chosen = logits.log_softmax(-1).gather(1, turn.tokens[:, None])[:, 0]
        log_probs.append(torch.where(turn.mask, chosen, 0))
        mask.append(turn.mask)
        state = turn.state
    if not tokens:
        nothing = limits["start"].new_zeros(0, 0)  # the batch is empty
        return Rollout(nothing, nothing.float(), nothing.bool(), state)
    masks = torch.stack(mask, 1)
    length = int(masks.any(0).sum())
    written, values = torch.stack(tokens, 1), torch.stack(log_probs, 1)
    return Rollout(written[:, :length], values[:, :length], masks[:, :length], state)


def replay_rollout(
    recorded: RecordedRollout[S], policy: Policy, state: S, **limits: Unpack[Limits]
) -> Rollout[S]:
    """The same by a recorded step."""
    start, lead = limits["start"], None
    if not len(start):
        nothing = start.new_zeros(0, 0)
        return Rollout(nothing, nothing.float(), nothing.bool(), state)
    if recorded.first:
        first: Limits = {**limits, "limit": recorded.first}
        turns = list(unroll(recorded.step, state, policy, **first))
        lead, state = _lead(turns, limits["stop"]), turns[-1].state
    books, after = recorded.run(state, start, limits["limit"], lead)
    length = int(books.mask.any(0).sum())
    _require_choice(books.stuck)
    return Rollout(books.tokens[:, :length], books.log_probs[:, :length], books.mask[:, :length], after)


def _lead(turns: list[Turn[S]], stop: Stop) -> Lead:
    tokens, mask = (torch.stack([getattr(turn, name) for turn in turns], 1) for name in ("tokens", "mask"))
    chosen = [turn.logits.float().log_softmax(-1).gather(1, turn.tokens[:, None])[:, 0] for turn in turns]
    sentence = torch.arange(len(tokens), device=tokens.device)
    live = mask[:, -1] & ~stop(History(tokens, sentence))
    return Lead(tokens, torch.where(mask, torch.stack(chosen, 1), 0), mask, live)


def unroll(
    step: Step[S],
    state: S,
    policy: Policy,
    *,
    start: Int[Tensor, " B"],
    stop: Stop,
    limit: int,
    constraints: Sequence[Constraint] = (),
) -> Iterator[Turn[S]]:
    """The turns of a rollout one by one: to show tokens as they come, or to keep logits or states.

    On an accelerator a few turns may follow in which every row has ended.
    """
    check_option("limit", limit, limit >= 1, "at least 1")
    written = start.new_full((len(start), limit), PADDING)
    sentence = torch.arange(len(start), device=start.device)
    every = 1 if start.device.type == "cpu" else _PATIENCE
    live, stuck = torch.ones_like(start, dtype=torch.bool), torch.zeros_like(start)
    token = start
    for i in range(limit):
        if i % every == 0 and not bool(live.any()):
            break
        new, logits = step(state, token)
        state = keep(live, new, state)
        allowed = constrain(constraints, History(written[:, :i], sentence), logits.detach())
        token = torch.where(live, policy(i, allowed), PADDING)
        if constraints:
            forbidden = live & (allowed.gather(1, token[:, None])[:, 0] == float("-inf"))
            stuck = torch.where(forbidden & (stuck == 0), i + 1, stuck)
            if i % every == 0:
                _require_choice(stuck)
        written[:, i] = token
        yield Turn(token, logits, live, state)
        live = live & ~stop(History(written[:, : i + 1], sentence))
        token = torch.where(live, token, PADDING)
    _require_choice(stuck)


def _require_choice(stuck: Int[Tensor, " B"]) -> None:
    if bool(stuck.any()):
        row = int(stuck.nonzero()[0, 0])
        raise ModelError(
            f"row {row}, position {int(stuck[row]) - 1}: the constraints forbid every token, "
            "or the one that the policy insists on"
        )
