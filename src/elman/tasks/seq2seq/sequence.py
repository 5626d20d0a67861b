"""A sequence-to-sequence model as objectives see it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import cross_entropy

from elman.decoding import AnyOf, AtLengths, AtTokens
from elman.decoding.sequence_model import DecoderStart, Sequences, SequenceScores
from elman.layers.cross_entropy import weighted_mean
from elman.layers.decoders.base import DecoderContext, DecoderOutput
from elman.metrics import tokenize_13a
from elman.shapes import Float, Tensor
from elman.state import State, repeat
from elman.tasks.seq2seq.data import Seq2SeqDataset
from elman.tasks.seq2seq.loss import costs, last_logits, loss, precise, step_after, to_vocabulary, tokens_before
from elman.tasks.seq2seq.quick_step import QuickSteps
from elman.tasks.seq2seq.search import Seq2SeqBatch
from elman.tasks.task_sequence_model import TaskSequenceModel
from elman.text.subword_tokenizer import SubwordTokenizer
from elman.text.vocab import BOS, EOS, UNK

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


class Seq2SeqSequenceModel(TaskSequenceModel):
    """p(target | source) of a batch of pairs. A sample ends by itself or at one and a half gold lengths."""

    aligned = False

    def __init__(self, task: Seq2Seq) -> None:
        self.task, self.net = task, task.net
        self.features = task.net.decoder.output_size

    def collate(self, pairs: Seq2SeqDataset) -> Seq2SeqBatch:
        return self.task.collate(pairs.rows)

    def targets(self, batch: Seq2SeqBatch) -> Sequences:
        return Sequences(batch.target, batch.target_mask)

    def begin(self, batch: Seq2SeqBatch, copies: int = 1) -> DecoderStart:
        session, state = self._open(batch, copies)
        net = self.net

        def blend(state: State, tokens: Tensor, weights: Tensor) -> tuple[State, Tensor]:
            E = net.target.E.weight
            beyond = weights[:, len(E) :].sum(1, keepdim=True)
            mixed = weights[:, : len(E)].to(E.dtype) @ E + beyond.to(E.dtype) * E[UNK]
            given = net.target(to_vocabulary(net, tokens.clamp(min=0))[:, None])
            x = torch.where((tokens < 0)[:, None, None], mixed[:, None], given)
            reading = net.decoder.unroll(session, state, net.drop(x))
            return reading.state, last_logits(net, reading, batch)

        limits = (batch.target_mask.sum(1) * 3 // 2 + 5).repeat_interleave(copies)
        start = torch.full_like(limits, BOS)
        stop = AnyOf((AtTokens((EOS,)), AtLengths(limits)))
        free = net.training or torch.is_grad_enabled()
        step = step_after(net, session, batch) if free else QuickSteps(net).step_after(session, batch)
        return DecoderStart(step, blend, state, start, stop, int(limits.max()))

    def score(self, batch: Seq2SeqBatch, given: Sequences, copies: int = 1) -> SequenceScores:
        reading = self._read(batch, given, copies)
        nll = costs(self.net, reading, given.tokens, batch.copies.repeat_interleave(copies, 0))
        return SequenceScores(-nll.masked_fill(~given.mask, 0), reading.os)

    def states(self, batch: Seq2SeqBatch, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        return self._read(batch, given, copies).os

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        wide = precise(logits).transpose(1, 2)
        smoothing = self.task.config.label_smoothing if self.net.training else 0.0
        each = cross_entropy(wide, gold.tokens, reduction="none", label_smoothing=smoothing)
        return weighted_mean(each, gold.mask)

    def likelihood(self, batch: Seq2SeqBatch) -> Float[Tensor, ""]:
        return loss(self.net, self.task.config, batch)

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        """Tokens, or the words that pieces of words make, cut as for BLEU."""
        tokenizer = self.task.tokenizers.target
        ended = [[token for token in row if token != EOS] for row in rows]
        if not isinstance(tokenizer, SubwordTokenizer):
            return list(ended)
        cut = tokenize_13a if self.task.config.bleu == "13a" else str.split
        return [cut(text) for text in tokenizer.decode_all(ended)]

    def _open(self, batch: Seq2SeqBatch, copies: int) -> tuple[DecoderContext, State]:
        """Sources are read once, however many sequences are written about each."""
        net: Any = self.net
        encoding = net.encode(batch.source, batch.mask)
        session, state = net.decoder.begin(encoding)
        session = session._replace(most=copies)
        if copies == 1:
            return session, state
        like = encoding.last.repeat_interleave(copies, 0)  # each sequence has dice of its own
        return net.decoder.redraw(session, like), repeat(state, copies)

    def _read(self, batch: Seq2SeqBatch, given: Sequences, copies: int) -> DecoderOutput:
        session, state = self._open(batch, copies)
        reading = self.net.read(session, state, tokens_before(self.net, given.tokens))
        return reading._replace(os=self.net.drop(reading.os))
