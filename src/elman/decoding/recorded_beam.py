"""Beam search without Python between its kernels: the GPU searches, the books on the CPU follow behind.

`BeamSearch` waits for the device once a step. Here the device chooses by itself, always among ``width`` places
for each sentence, and hands what it chose over every few steps. Books find out which sentences are over; what
is searched for them after that is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

import numpy as np
import torch

from elman.cuda_graph import Recording
from elman.decoding.beam_books import ENDED, NOBODY, BeamBooks
from elman.decoding.hypotheses import BeamLayer, BeamState, Ints
from elman.decoding.interfaces import Constraint, FixedStep, Step, Stop
from elman.decoding.kept_recordings import Tape, open_tape
from elman.decoding.recorded_policies import BLOCK
from elman.decoding.recorded_rollout import WORTH, tensors
from elman.decoding.recorded_stop import EndRule, find_end_rule
from elman.shapes import Int, Tensor
from elman.state import S, map_state, repeat

_WIDEST = 16  # a wider beam would not fit into the registers of a kernel


@dataclass(frozen=True)
class RecordedBeam(Generic[S]):
    """A beam search that can be recorded."""

    step: FixedStep[S]
    rule: EndRule
    limit: int
    log_factor: float

    def run(self, state: S, start: Int[Tensor, " B"], beams: BeamState) -> list[BeamLayer]:
        """All layers until no sentence has anything left to search."""
        with self.open_tape(state, start, beams) as (recording, parts):
            return self._find_layers(read_behind(parts.books, recording, self.limit), beams)

    def _find_layers(self, blocks: Iterator[tuple[int, list[np.ndarray]]], beams: BeamState) -> list[BeamLayer]:
        layers: list[BeamLayer] = []
        nodes = np.zeros(0, np.int64)  # the number of each place in the layer before; -1: nobody
        for first, block in blocks:
            for length, (tokens, parents, log_probs, scores, fates) in enumerate(
                zip(*block, strict=True), first + 1
            ):
                kept = (fates != NOBODY) & np.repeat(beams.open, beams.most)
                places = kept.nonzero()[0]
                sentence = places // beams.most
                before = nodes[sentence * beams.most + parents[places]] if layers else sentence
                layer = BeamLayer(
                    sentence, before, tokens[places], log_probs[places].astype(np.float64), scores[places],
                    fates[places] == ENDED,
                )  # fmt: skip
                layers.append(layer)
                beams.enter(layer, length)
                nodes = number_places(places, len(kept))
                if not beams.open.any():
                    return layers
        return layers

    def open_tape(self, state: S, start: Int[Tensor, " B"], beams: BeamState) -> AbstractContextManager[Tape]:
        """The recording of a step, and what it reads and writes."""
        books = BeamBooks.open(start, self.rule, self.limit, beams.most, beams.narrow, self.log_factor)
        return open_tape(self.step, BeamParts(books, repeat(state, beams.most)), "beam", _record)


class BeamParts(NamedTuple):
    """What the steps of a beam search read and write."""

    books: BeamBooks
    state: Any


def _record(step: Step[S], parts: BeamParts) -> Recording:
    books, state = parts

    def work() -> None:
        new, logits = step(state, books.token)
        books.enter(logits)
        map_state(lambda old, one: pick_in_place(old, one, books.parent), state, new)

    return Recording(work, [*books.changing, *tensors(state)])


def read_behind(books: BeamBooks, recording: Recording, limit: int) -> Iterator[tuple[int, list[np.ndarray]]]:
    """Blocks of steps as arrays, each handed over while the device computes the next one."""
    waiting: list[tuple[int, list[Tensor], torch.cuda.Event | None]] = []
    for first in range(0, limit, BLOCK):
        last = min(first + BLOCK, limit)
        for _ in range(first, last):
            recording.replay()
        waiting.append((first, *_fetch(books, first, last)))
        if len(waiting) > 1 or last == limit:
            yield _arrive(*waiting.pop(0))
    for one in waiting:
        yield _arrive(*one)


def _fetch(books: BeamBooks, first: int, last: int) -> tuple[list[Tensor], torch.cuda.Event | None]:
    wholes = (books.tokens, books.parents, books.log_probs, books.scores, books.fates)
    parts = [whole[first:last] for whole in wholes]
    if not parts[0].is_cuda:
        return [part.clone() for part in parts], None
    copies = [torch.empty(part.shape, dtype=part.dtype, pin_memory=True) for part in parts]
    for copy, part in zip(copies, parts, strict=True):
        copy.copy_(part, non_blocking=True)
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return copies, event


def _arrive(first: int, copies: list[Tensor], event: torch.cuda.Event | None) -> tuple[int, list[np.ndarray]]:
    if event is not None:
        event.synchronize()
    return first, [copy.numpy() for copy in copies]


def pick_in_place(old: Tensor, new: Tensor, rows: Int[Tensor, " N"]) -> Tensor:
    """``old`` becomes these rows of ``new``, which may be the same tensor."""
    if new is old:
        return old.copy_(new.index_select(0, rows))
    return torch.index_select(new.to(old.dtype), 0, rows, out=old)


def number_places(places: Ints, count: int) -> Ints:
    """The number of each place among those that are kept; -1 of any other."""
    numbers = np.full(count, -1)
    numbers[places] = np.arange(len(places))
    return numbers


def find_recorded_beam(
    step: Step[S],
    beams: BeamState,
    log_factor: float,
    start: Tensor,
    stop: Stop,
    limit: int,
    constraints: Sequence[Constraint] = (),
) -> RecordedBeam[S] | str:
    """The search as one that can be recorded; or why it cannot."""
    if not isinstance(step, FixedStep):
        return "the step is a function that may do anything in Python"
    if constraints:
        return f"{type(constraints[0]).__name__} looks in Python at what was written"
    if beams.most > _WIDEST:
        return f"a beam of more than {_WIDEST} has no kernel"
    if limit < WORTH:
        return f"fewer than {WORTH} steps are not worth a recording"
    rule = find_end_rule(stop)
    return rule if isinstance(rule, str) else RecordedBeam(step, rule, limit, log_factor)
