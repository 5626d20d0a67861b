"""Exposure bias, measured: how far a model falls when it reads what it wrote itself, not what is right.

By position, under teacher forcing and when it runs free; and after k tokens of its own, what the right token
costs more than it costs after the right ones (Ranzato et al. 2016, Schmidt 2019).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import pad

from elman.decoding import AtLengths, Forced, Greedy, Prefix, unroll
from elman.decoding.generative import Generative, Sequences
from elman.shapes import Bool, Float, Int, Tensor

STRIDE = 4  # between the places from which a model goes on by itself
Curve = NDArray[np.float64]


@dataclass(frozen=True)
class Running:
    """One way to run a model: means by position, the first first."""

    nats: Curve  # -log p: of gold when forced, of what it wrote itself when free
    right: Curve  # share of what it would write that is right
    counts: Curve  # sequences that are so long


@dataclass(frozen=True)
class Exposure:
    """What was measured.

    Right is, where the t-th token answers to the t-th of gold (tags, running text), the same token; elsewhere
    one that follows in gold the token that it follows here.
    """

    forced: Running
    free: Running
    excess: Curve  # of -log p(gold) after k = 1, 2, … tokens of its own, over that after gold
    counts: Curve  # places where that was looked at
    sequences: int

    @property
    def accumulated(self) -> Curve:
        """Σ_{j≤k} excess_j: what k steps by oneself have cost, in nats."""
        total: Curve = np.cumsum(self.excess)
        return total

    @property
    def bias(self) -> float:
        """The mean excess over k, in nats a token: one number to compare models by."""
        return float(self.excess.mean()) if len(self.excess) else 0.0


@torch.no_grad()
def exposure(model: Generative[Any], batches: Iterable[Any], own: int = 8) -> Exposure:
    """Run a model forced, free, and from gold beginnings for up to ``own`` tokens, greedily."""
    model.net.eval()
    forced, free, after = _Sums(), _Sums(), _Sums()
    sequences = 0
    for batch in batches:
        gold = trimmed(model.gold(batch))
        sequences += len(gold.tokens)
        costs, guesses = _forced(model, batch, gold)
        forced.add(costs, _judged(model.aligned, before(gold.tokens), guesses, gold), gold.mask)
        written, nats = _free(model, batch)
        own_words = before(written.tokens), written.tokens
        free.add(nats, _judged(model.aligned, *own_words, gold), written.mask)
        for cut in range(0, gold.mask.shape[1], STRIDE):
            after.add(*_excess(model, batch, gold, costs, (cut, own)))
    excess = after.running()
    return Exposure(forced.running(), free.running(), excess.nats[1:], excess.counts[1:], sequences)


def trimmed(gold: Sequences) -> Sequences:
    """Without the columns behind the end of the longest: the last window of a text may have such."""
    longest = int(gold.mask.sum(1).max())
    return Sequences(*(part[:, :longest] for part in gold))


def _forced(
    model: Generative[Any], batch: Any, gold: Sequences
) -> tuple[Float[Tensor, "B T"], Int[Tensor, "B T"]]:
    """What each token of gold costs after those before it, and what the model would have written instead."""
    begun = model.begin(batch)
    turns = unroll(
        begun.step,
        begun.state,
        Forced(gold.tokens),
        start=begun.start,
        stop=AtLengths(gold.mask.sum(1)),
        limit=gold.tokens.shape[1],
    )
    costs, guesses = [], []
    for turn, right in zip(turns, gold.tokens.unbind(1), strict=True):
        costs.append(_nats(turn.logits, right))
        guesses.append(turn.logits.argmax(-1))
    return torch.stack(costs, 1), torch.stack(guesses, 1)


def _free(model: Generative[Any], batch: Any) -> tuple[Sequences, Float[Tensor, "B T"]]:
    begun = model.begin(batch)
    turns = list(
        unroll(
            begun.step,
            begun.state,
            Greedy(),
            start=begun.start,
            stop=begun.stop,
            limit=begun.limit,
        )
    )
    nats = torch.stack([_nats(turn.logits, turn.tokens) for turn in turns], 1)
    tokens = torch.stack([turn.tokens for turn in turns], 1)
    return Sequences(tokens, torch.stack([turn.mask for turn in turns], 1)), nats


def _excess(
    model: Generative[Any],
    batch: Any,
    gold: Sequences,
    costs: Float[Tensor, "B T"],
    span: tuple[int, int],
) -> tuple[Float[Tensor, "B K"], Float[Tensor, "B K"], Bool[Tensor, "B K"]]:
    """How much more gold costs after 0, 1, … own tokens that follow ``cut`` of gold, and where to look."""
    cut, own = span
    begun, steps = model.begin(batch), min(gold.tokens.shape[1], cut + own + 1)
    # Rows too short to be cut there are left free, and not looked at.
    prefix = gold.tokens[:, :cut].masked_fill(~gold.mask[:, :cut], -1)
    turns = unroll(
        begun.step,
        begun.state,
        Greedy(),
        start=begun.start,
        stop=begun.stop,
        limit=steps,
        constraints=(Prefix(prefix),) if cut else (),
    )
    more, looked = [], []
    for place, turn in enumerate(turns):
        if place >= cut:
            more.append(_nats(turn.logits, gold.tokens[:, place]) - costs[:, place])
            looked.append(turn.mask & gold.mask[:, place])
    if not more:
        nothing = costs[:, :0]
        return nothing, nothing, nothing.bool()
    values = torch.stack(more, 1)
    return values, torch.zeros_like(values), torch.stack(looked, 1)


def _nats(logits: Float[Tensor, "B V"], tokens: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return -wide.log_softmax(-1).gather(1, tokens[:, None])[:, 0]


def _judged(
    aligned: bool, read: Int[Tensor, "B T"], written: Int[Tensor, "B T"], gold: Sequences
) -> Float[Tensor, "B T"]:
    """1 where what was written after what was read is right."""
    if aligned:
        wide = pad(gold.tokens, (0, max(0, written.shape[1] - gold.tokens.shape[1])), value=-1)
        return (written == wide[:, : written.shape[1]]).float()
    pairs = (
        (read[:, :, None] == before(gold.tokens)[:, None])
        & (written[:, :, None] == gold.tokens[:, None])
        & gold.mask[:, None]
    )
    return pairs.any(-1).float()


def before(tokens: Int[Tensor, "B T"]) -> Int[Tensor, "B T"]:
    """What is read when each token is written; -1 at the beginning."""
    return pad(tokens, (1, 0), value=-1)[:, :-1]


class _Sums:
    """Sums by position of as many sequences as come."""

    def __init__(self) -> None:
        self.sums = np.zeros((3, 0))

    def add(
        self,
        nats: Float[Tensor, "B T"],
        right: Float[Tensor, "B T"],
        mask: Bool[Tensor, "B T"],
    ) -> None:
        ones = torch.ones_like(nats)
        parts = [torch.where(mask, part, 0).double().sum(0) for part in (nats, right, ones)]
        new = torch.stack(parts).cpu().numpy()
        width = max(new.shape[1], self.sums.shape[1])
        both = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in (self.sums, new)]
        self.sums = both[0] + both[1]

    def running(self) -> Running:
        nats, right, counts = self.sums[:, self.sums[2] > 0]
        return Running(nats / counts, right / counts, counts)
