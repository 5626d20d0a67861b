"""How a tagger reads: its gates, and what speaks for each word's tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from elman.shapes import Float, Tensor
from elman.tasks.results import LayerPass, Question, TextTrace, best_two, word_index
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.heads import Head, Mask, Outputs, TagIds, TagRows
from elman.tasks.word_batch import collate

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def trace(task: Tagger, text: str, word: int | None) -> TextTrace:
    """The tag of every word, or of one, is explained against the next likeliest at its place."""
    net, tokens = task.net, list(task.split_words(text))
    places = [*range(len(tokens))] if word is None else [word_index(word, len(tokens))]
    words = collate(*task.featurizer.sentences([tokens])).to(task.device)
    with torch.no_grad():
        xs, ys = net.words(words), net(words)
        pairs = [_likeliest(head, ys, words.mask) for head in task.heads]

    def margins() -> Tensor:
        ys = net(words)
        each = zip(task.heads, pairs, strict=True)
        return torch.cat([margin(h, ys, words.mask, *pair)[places] for h, pair in each])

    questions = []
    for tagset, (best, other) in zip(task.tagsets, pairs, strict=True):
        for i in places:
            answer, instead = (tagset.labels.items[int(tags[0, i])] for tags in (best, other))
            questions.append(Question(tokens[i], answer, instead))
    passes = [LayerPass("", tokens, net.encode, xs)]
    return TextTrace(tokens, " ", passes, net.words, margins, questions)


def _likeliest(head: Head, ys: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The tags that are answered (1, T), and the likeliest other one at each place."""
    chances = head.marginals(ys, mask)[0]
    surer_than_sure = chances.scatter(1, head.best(ys, mask)[0, :, None], 2.0)  # so that it comes first
    first, second = best_two(surer_than_sure)
    return first[None], second[None]


def margin(head: Head, ys: Outputs, mask: Mask, best: TagIds, other: TagIds) -> Float[Tensor, " T"]:
    """log p(best_i | w) - log p(other_i | w) at each place i, whatever the tags elsewhere.

    Where tags are fed back, a beam has no gradient: it is log p of all the best tags, less that of the same
    with other_i in its place.
    """
    steps = ys.shape[1]
    if isinstance(head, AutoregressiveHead):
        changed = torch.where(torch.eye(steps, dtype=torch.bool, device=ys.device), other, best)
        whole = ys.expand(steps, -1, -1), changed, mask.expand(steps, -1)
        return head.loss(*whole) - head.loss(ys, best, mask)
    start = torch.arange(steps, device=ys.device).repeat(2)
    row = torch.arange(2, device=ys.device).repeat_interleave(steps)
    spans = torch.stack([row, start, start + 1], 1)
    both = torch.cat([best, other])
    found = head.pieces(ys, mask, TagRows(both, torch.zeros_like(row[:2]), spans))
    return found[:steps] - found[steps:]
