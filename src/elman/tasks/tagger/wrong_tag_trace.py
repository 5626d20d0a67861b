"""Why a tagger said a wrong tag: what is asked of the network, for many sentences at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import pad as widen

from elman.shapes import Tensor
from elman.tasks.judgement import Mistake, MistakeTrace
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.heads import Head, TagRows
from elman.tasks.tagger.wrong_tags import WrongTag
from elman.tasks.word_batch import collate
from elman.text.batching import pad

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def trace_mistakes(task: Tagger, data: TaggerDataset, mistakes: Sequence[Mistake]) -> MistakeTrace:
    """Why the first wrong tag of each, rather than the right one?"""
    words = collate([data.rows[m.example] for m in mistakes], data.forms).to(task.device)
    about: list[WrongTag] = [m.about for m in mistakes]

    def margins() -> Tensor:
        ys = task.net(words)
        each: list[Any] = [None] * len(about)
        for column, head in enumerate(task.heads):
            rows = [i for i, wrong in enumerate(about) if wrong.column == column]
            if rows:
                found = _margins(head, ys[rows], words.mask[rows], [about[i] for i in rows])
                for i, one in zip(rows, found, strict=True):
                    each[i] = one
        return torch.stack(each)

    tokens = [list(data.examples[m.example].words) for m in mistakes]
    lengths = [len(some) for some in tokens]
    return MistakeTrace(
        tokens, task.net.words, margins, lambda s: [row[:n] for row, n in zip(s, lengths, strict=True)]
    )


def _margins(head: Head, ys: Tensor, mask: Tensor, about: Sequence[WrongTag]) -> Tensor:
    """log p(tag that was answered) - log p(right tag); of tags that are fed back, of all tags with either."""
    paths = pad([wrong.path for wrong in about]).ids.to(ys.device)
    answered = widen(paths, (0, mask.shape[1] - paths.shape[1]))
    row = torch.arange(len(about), device=ys.device)
    place, gold = (torch.tensor([w[i] for w in about], device=ys.device) for i in (1, 2))
    right = answered.index_put((row, place), gold)
    if isinstance(head, AutoregressiveHead):
        return head.loss(ys, right, mask) - head.loss(ys, answered, mask)
    both = torch.cat([row, row + len(about)])
    spans = torch.stack([both, place.repeat(2), place.repeat(2) + 1], 1)
    found = head.pieces(ys, mask, TagRows(torch.cat([answered, right]), row.repeat(2), spans))
    return found[: len(about)] - found[len(about) :]
