"""A rollout without Python between its kernels: one step is recorded as a CUDA graph and replayed.

Python launches a kernel in some ten microseconds, and a step has a hundred of them; the GPU computes it in a
fraction of that. On a CPU the same code runs step by step, so that it can be tested there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import torch

from elman.cuda_graph import Recording
from elman.decoding.interfaces import Constraint, FixedStep, Policy, Step, Stop
from elman.decoding.kept_recordings import Tape, open_tape
from elman.decoding.recorded_constraints import PassingConstraint, PlacedConstraint, record_constraints
from elman.decoding.recorded_policies import BLOCK, RecordedPolicy, record_policy
from elman.decoding.recorded_stop import EndRule, find_end_rule
from elman.decoding.rollout_books import Lead, RolloutBooks
from elman.shapes import Bool, Int, Tensor
from elman.state import S, leaves, map_state

WORTH = 6  # steps: to rehearse and to record one takes as long as two
_MANY = 4000  # steps, for which several are worth recording as one graph
_LEAST_ROOM = 64  # steps


@dataclass(frozen=True)
class RecordedRollout(Generic[S]):
    """A rollout that can be recorded."""

    step: FixedStep[S]
    policy: RecordedPolicy
    rule: EndRule
    constraints: Sequence[PlacedConstraint]
    first: int = 0  # steps that are not recorded, since a constraint looks at what they write

    def run(
        self, state: S, start: Int[Tensor, " B"], limit: int, lead: Lead | None = None
    ) -> tuple[RolloutBooks, S]:
        """What was written until all rows have ended, and the state of each before it reads its last token.

        ``lead`` is what the first steps wrote, and the state the one after them.
        """
        with self.open_tape(state, start, limit) as (recording, parts):
            policy = self.policy.read_from(parts.numbers)
            if lead is not None:
                parts.books.begin_after(lead)
            going = GoingRows(parts.books.live)
            for i in range(self.first, limit, BLOCK):
                for _ in range(min(BLOCK, limit - i)):
                    policy.draw()
                policy.load()
                for _ in range(BLOCK // recording.times):
                    recording.replay()
                if not going.look():
                    break
            # The tape is another one's after this.
            return RolloutBooks(*map(torch.clone, parts.books)), map_state(torch.clone, parts.state)

    def open_tape(self, state: S, start: Int[Tensor, " B"], limit: int) -> AbstractContextManager[Tape]:
        """The recording of a step or of several, and what they read and write."""
        blocks = -(-(limit - self.first) // BLOCK)
        books = RolloutBooks.open(start, self.rule, limit, _make_room(self.first + blocks * BLOCK))
        state = map_state(torch.Tensor.contiguous, state)
        rules = tuple(placed.tensors for placed in self.constraints)
        times, policy, forbid = BLOCK if limit >= _MANY else 1, self.policy, [c.rule for c in self.constraints]

        def record(step: Step[S], parts: RolloutParts) -> Recording:
            work = _work(step, parts, policy.read_from(parts.numbers), forbid)
            return Recording(work, [*parts.books.changing, *tensors(parts.state)], times=times)

        settings = times, type(policy), policy.settings, *forbid
        return open_tape(self.step, RolloutParts(books, state, rules, policy.numbers), settings, record)


class RolloutParts(NamedTuple):
    """What the steps of a rollout read and write."""

    books: RolloutBooks
    state: Any
    rules: tuple[tuple[Tensor, ...], ...]  # what each constraint reads
    numbers: tuple[Tensor, ...]  # what the policy reads


def _work(
    step: Step[S], parts: RolloutParts, policy: RecordedPolicy, forbid: Sequence[Callable[..., Tensor]]
) -> Callable[[], None]:
    books, state, rules, _ = parts

    def work() -> None:
        new, logits = step(state, books.token)
        keep_in_place(books.live, tensors(state), tensors(new))
        allowed = logits
        for rule, read in zip(forbid, rules, strict=True):
            allowed = rule(books.place, allowed, *read)
        chosen = policy(books.place, allowed)
        books.enter(chosen, token_log_probs(logits, chosen), allowed)

    return work


def _make_room(steps: int) -> int:
    """For so many steps or more, that texts of many lengths have one recording."""
    return max(_LEAST_ROOM, 1 << (steps - 1).bit_length())


class GoingRows:
    """Does any row go on? On a GPU the answer is that of the look before, so that nobody waits for it."""

    def __init__(self, live: Tensor) -> None:
        self.live = live
        self.before: tuple[Tensor, torch.cuda.Event] | None = None

    def look(self) -> bool:
        if not self.live.is_cuda:
            return bool(self.live.any())
        before, seen = self.before, torch.empty(1, dtype=torch.bool, pin_memory=True)
        seen.copy_(self.live.any(), non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self.before = seen, event
        if before is None:
            return True
        before[1].synchronize()
        return bool(before[0])


def find_recording(
    step: Step[S], policy: Policy, start: Tensor, stop: Stop, limit: int, constraints: Sequence[Constraint] = ()
) -> RecordedRollout[S] | str:
    """The rollout as one that can be recorded; or why it cannot."""
    if not isinstance(step, FixedStep):
        return "the step is a function that may do anything in Python"
    if torch.is_grad_enabled():
        return "gradients are computed"
    passing: list[Any] = [one for one in constraints if isinstance(one, PassingConstraint)]
    first = max((one.inert_from for one in passing), default=0)
    if limit - first < WORTH:
        return f"fewer than {WORTH} steps are not worth a recording"
    rule, recorded = find_end_rule(stop), record_policy(policy, start, first)
    placed = record_constraints([one for one in constraints if not isinstance(one, PassingConstraint)], start)
    if isinstance(rule, str):
        return rule
    if isinstance(recorded, str):
        return recorded
    return placed if isinstance(placed, str) else RecordedRollout(step, recorded, rule, placed, first)


def tensors(state: S) -> list[Tensor]:
    return [leaf for _, leaf in leaves(state)]


def keep_in_place(live: Bool[Tensor, " B"], old: Sequence[Tensor], new: Sequence[Tensor]) -> None:
    """Each of ``old`` becomes the corresponding one of ``new`` in the rows that go on."""
    pairs = [(a, b.to(a.dtype).contiguous()) for a, b in zip(old, new, strict=True) if a is not b]
    if live.is_cuda and pairs:
        from elman.decoding.row_kernels import keep_rows

        keep_rows(live, *zip(*pairs, strict=True))
        return
    for a, b in pairs:
        torch.where(live.view(-1, *[1] * (a.dim() - 1)), b, a, out=a)


def token_log_probs(logits: Tensor, tokens: Tensor) -> Tensor:
    """log softmax of each row at its token."""
    if logits.is_cuda:
        from elman.decoding.row_kernels import token_log_probs as by_kernel

        return by_kernel(logits, tokens)
    return logits.float().log_softmax(-1).gather(1, tokens[:, None])[:, 0]
