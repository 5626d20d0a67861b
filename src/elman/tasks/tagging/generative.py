"""A tagger whose tags are fed back, as objectives see it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import torch
from torch.nn.functional import cross_entropy

from elman.decoding import AtLengths
from elman.decoding.generative import Beginning, Scored, Sequences
from elman.errors import ConfigError
from elman.layers.words import Words
from elman.shapes import Float, Tensor
from elman.state import pick, repeat
from elman.tasks.tagger import Encoded, Tagger
from elman.tasks.tagging.feedback import FeedbackHead
from elman.tasks.words import side_by_side
from elman.text.batching import pad


class FedBack:
    """p(tags | words) of a batch of sentences: one tag a word."""

    aligned = True

    def __init__(self, task: Tagger) -> None:
        heads = list(task.net.heads)
        if len(heads) != 1 or not isinstance(heads[0], FeedbackHead):
            raise ConfigError(
                "objective is for taggers that write: one column, and model.output 'feedback'"
            )
        self.task, self.net, self.head = task, task.net, heads[0]
        self.features = self.head.read.output_size

    def batch(self, sentences: Encoded) -> Encoded:
        return sentences

    def gold(self, batch: Encoded) -> Sequences:
        tags = pad([tags[0].tolist() for tags in batch.tags])
        device = next(self.net.parameters()).device
        return Sequences(tags.ids.to(device), tags.mask.to(device))

    def begin(self, batch: Encoded, copies: int = 1) -> Beginning:
        words, ys = self._read(batch)
        step, blend, state = self.head.open(ys)
        lengths = words.mask.sum(1).repeat_interleave(copies)
        return Beginning(
            step,
            blend,
            repeat(state, copies),
            torch.full_like(lengths, self.head.tags),
            AtLengths(lengths),
            int(lengths.max()),
        )

    def score(self, batch: Encoded, given: Sequences, copies: int = 1) -> Scored:
        hs = self.states(batch, given, copies)
        log_probs = self.head.emit(hs).float().log_softmax(-1)
        chosen = log_probs.gather(2, given.tokens[..., None])[..., 0]
        return Scored(chosen.masked_fill(~given.mask, 0), hs)

    def states(self, batch: Encoded, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        _, ys = self._read(batch)
        rows = torch.arange(len(ys), device=ys.device).repeat_interleave(copies)
        return self.head.states(pick(ys, rows), given.tokens, given.mask)

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        each = cross_entropy(logits.float().transpose(1, 2), gold.tokens, reduction="none")
        total = each.masked_fill(~gold.mask, 0).sum(1)
        lengths = gold.mask.sum(1).clamp(min=1)
        return (total / lengths if self.task.model.loss == "mean" else total).mean()

    def likelihood(self, batch: Encoded) -> Float[Tensor, ""]:
        return self.task.loss(batch, 0.0)

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        return [list(row) for row in rows]

    def _read(self, batch: Encoded) -> tuple[Words, Tensor]:
        words = side_by_side(batch.rows, batch.forms).to(next(self.net.parameters()).device)
        return words, self.net(words)
