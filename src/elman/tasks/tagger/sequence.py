"""A tagger whose tags are fed back, as objectives see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import cross_entropy

from elman.decoding import AtLengths
from elman.decoding.sequence_model import DecoderStart, Sequences, SequenceScores
from elman.errors import ConfigError
from elman.shapes import Float, Tensor
from elman.state import pick, repeat
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.task_sequence_model import TaskSequenceModel
from elman.text.batching import pad

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


class TaggerSequenceModel(TaskSequenceModel):
    """p(tags | words) of a batch of sentences: one tag a word."""

    aligned = True

    def __init__(self, task: Tagger) -> None:
        heads = list(task.net.heads)
        if len(heads) != 1 or not isinstance(heads[0], AutoregressiveHead):
            raise ConfigError("objective is for taggers with one column and model.output 'autoregressive'")
        self.task, self.net, self.head = task, task.net, heads[0]
        self.features = self.head.read.output_size

    def targets(self, batch: TaggerDataset) -> Sequences:
        tags = pad([tags[0].tolist() for tags in batch.tags])
        return Sequences(tags.ids.to(self.task.device), tags.mask.to(self.task.device))

    def begin(self, batch: TaggerDataset, copies: int = 1) -> DecoderStart:
        words, ys = self.task.read_words(batch.rows, batch.forms)
        step, blend, state = self.head.open(ys)
        lengths = words.mask.sum(1).repeat_interleave(copies)
        start, stop, limit = torch.full_like(lengths, self.head.tags), AtLengths(lengths), int(lengths.max())
        return DecoderStart(step, blend, repeat(state, copies), start, stop, limit)

    def score(self, batch: TaggerDataset, given: Sequences, copies: int = 1) -> SequenceScores:
        hs = self.states(batch, given, copies)
        log_probs = self.head.emit(hs).float().log_softmax(-1)
        chosen = log_probs.gather(2, given.tokens[..., None])[..., 0]
        return SequenceScores(chosen.masked_fill(~given.mask, 0), hs)

    def states(self, batch: TaggerDataset, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        _, ys = self.task.read_words(batch.rows, batch.forms)
        rows = torch.arange(len(ys), device=ys.device).repeat_interleave(copies)
        return self.head.states(pick(ys, rows), given.tokens, given.mask)

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        each = cross_entropy(logits.float().transpose(1, 2), gold.tokens, reduction="none")
        total = each.masked_fill(~gold.mask, 0).sum(1)
        lengths = gold.mask.sum(1).clamp(min=1)
        return (total / lengths if self.task.config.loss == "mean" else total).mean()

    def likelihood(self, batch: TaggerDataset) -> Float[Tensor, ""]:
        return self.task.loss(batch, 0.0)
