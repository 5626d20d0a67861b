"""A sequence-to-sequence model as objectives see it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import torch
from torch.nn.functional import cross_entropy, pad

from elman.decoding import AnyOf, AtLengths, AtTokens
from elman.decoding.generative import Beginning, Scored, Sequences
from elman.layers.cross_entropy import weighted_mean
from elman.layers.decoder import Reading, Session
from elman.metrics import tokenize_13a
from elman.shapes import Float, Tensor
from elman.state import State, repeat
from elman.tasks.seq2seq import Seq2Seq
from elman.tasks.translation.data import Encoded
from elman.tasks.translation.likelihood import costs, last_logits, loss, precise, readable
from elman.tasks.translation.writing import Batch
from elman.text.codec import TokenCodec
from elman.text.vocab import BOS, EOS, UNK


class Answers:
    """p(target | source) of a batch of pairs. A sample ends by itself or at one and a half gold lengths."""

    aligned = False

    def __init__(self, task: Seq2Seq) -> None:
        self.task, self.net = task, task.net
        self.features = task.net.decoder.output_size

    def batch(self, pairs: Encoded) -> Batch:
        return self.task.batch(pairs.rows)

    def gold(self, batch: Batch) -> Sequences:
        return Sequences(batch.target, batch.target_mask)

    def begin(self, batch: Batch, copies: int = 1) -> Beginning:
        session, state = self._open(batch, copies)
        net = self.net

        def step(state: State, tokens: Tensor) -> tuple[State, Tensor]:
            reading = net.read(session, state, readable(net, tokens)[:, None])
            return reading.state, last_logits(net, reading, batch)

        def blend(state: State, tokens: Tensor, weights: Tensor) -> tuple[State, Tensor]:
            E = net.target.E.weight
            beyond = weights[:, len(E) :].sum(1, keepdim=True)
            mixed = weights[:, : len(E)].to(E.dtype) @ E + beyond.to(E.dtype) * E[UNK]
            given = net.target(readable(net, tokens.clamp(min=0))[:, None])
            x = torch.where((tokens < 0)[:, None, None], mixed[:, None], given)
            reading = net.decoder.read(session, state, net.drop(x))
            return reading.state, last_logits(net, reading, batch)

        limits = (batch.target_mask.sum(1) * 3 // 2 + 5).repeat_interleave(copies)
        start = torch.full_like(limits, BOS)
        stop = AnyOf((AtTokens((EOS,)), AtLengths(limits)))
        return Beginning(step, blend, state, start, stop, int(limits.max()))

    def score(self, batch: Batch, given: Sequences, copies: int = 1) -> Scored:
        reading = self._read(batch, given, copies)
        reading = reading._replace(os=self.net.drop(reading.os))
        nats = costs(self.net, reading, given.tokens, batch.copies.repeat_interleave(copies, 0))
        return Scored(-nats.masked_fill(~given.mask, 0), reading.os)

    def states(self, batch: Batch, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        os: Tensor = self.net.drop(self._read(batch, given, copies).os)
        return os

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        wide = precise(logits).transpose(1, 2)
        smoothing = self.task.model.smoothing if self.net.training else 0.0
        each = cross_entropy(wide, gold.tokens, reduction="none", label_smoothing=smoothing)
        return weighted_mean(each, gold.mask)

    def likelihood(self, batch: Batch) -> Float[Tensor, ""]:
        return loss(self.net, self.task.model, batch)

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        """Tokens, or the words that pieces of words make, cut as for BLEU."""
        codec = self.task.sides.target
        ended = [[token for token in row if token != EOS] for row in rows]
        if isinstance(codec, TokenCodec):
            return list(ended)
        cut = tokenize_13a if self.task.model.bleu == "13a" else str.split
        return [cut(codec.decode(row)) for row in ended]

    def _open(self, batch: Batch, copies: int) -> tuple[Session, State]:
        """Sources are read once, however many sequences are written about each."""
        net: Any = self.net
        encoding = net.encode(batch.source, batch.mask)
        session, state = net.decoder.open(encoding)
        if copies == 1:
            return session, state
        like = encoding.last.repeat_interleave(copies, 0)  # each sequence has dice of its own
        drawn = tuple(cell.draw(like) for cell in net.decoder.cells)
        return session._replace(cells=drawn), repeat(state, copies)

    def _read(self, batch: Batch, given: Sequences, copies: int) -> Reading:
        session, state = self._open(batch, copies)
        before = pad(given.tokens, (1, 0), value=BOS)[:, :-1]
        return self.net.read(session, state, readable(self.net, before))
