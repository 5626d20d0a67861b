"""How a tagger reads: gates, and what speaks for each word's tag."""

from __future__ import annotations

import torch

from elman.inspect.layer_gates import layer_gates
from elman.inspect.readers.place import place_of
from elman.inspect.reading import Reading
from elman.inspect.saliency import Saliency, attributed, best_two
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.tagger import Tagger
from elman.tasks.tagging.feedback import FeedbackHead
from elman.tasks.tagging.heads import Head
from elman.tasks.words import side_by_side


def read(model: Tagger, text: str, word: int | None) -> Reading:
    """The tag of every word, or of one, is explained against the next likeliest at its place."""
    net, tokens = model.net, list(model.cut(text))
    places = [*range(len(tokens))] if word is None else [place_of(word, len(tokens))]
    words = side_by_side(*model.lexicon.sentences([tokens])).to(next(net.parameters()).device)
    heads: list[Head] = list(net.heads)  # type: ignore[arg-type]
    with torch.no_grad():
        xs, ys = net.words(words), net(words)
        pairs = [_likeliest(head, ys, words.mask) for head in heads]

    def margins() -> Tensor:
        ys = net(words)
        each = zip(heads, pairs, strict=True)
        return torch.cat([margin(h, ys, words.mask, *pair)[places] for h, pair in each])

    rows = iter(attributed(net.words, margins))
    saliency = []
    for tagset, (best, other) in zip(model.tagsets, pairs, strict=True):
        for i in places:
            answer, instead = (tagset.labels.items[int(tags[0, i])] for tags in (best, other))
            saliency.append(Saliency(tokens[i], answer, instead, next(rows)))
    return Reading(tokens, " ", layer_gates(net.encode, xs), saliency)


def _likeliest(head: Head, ys: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The tags that are answered (1, T), and the likeliest other one at each place."""
    best = head.best(ys, mask)
    chances = head.marginals(ys, mask)[0]
    first, second = best_two(
        chances.scatter(1, best[0, :, None], 2.0)
    )  # surer than sure: comes first
    return first[None], second[None]


def margin(
    head: Head,
    ys: Float[Tensor, "1 T H"],
    mask: Bool[Tensor, "1 T"],
    best: Int[Tensor, "1 T"],
    other: Int[Tensor, "1 T"],
) -> Float[Tensor, " T"]:
    """log p(best_i | w) - log p(other_i | w) at each place i, whatever the tags elsewhere.

    Where tags are fed back, a beam has no gradient: it is log p of all the best tags, less that of the same
    with other_i in its place.
    """
    steps = ys.shape[1]
    if isinstance(head, FeedbackHead):
        place = torch.arange(steps, device=ys.device)
        changed = torch.where(place == place[:, None], other, best)
        whole = ys.expand(steps, -1, -1), changed, mask.expand(steps, -1)
        return head.loss(*whole) - head.loss(ys, best, mask)
    start = torch.arange(steps, device=ys.device).repeat(2)
    row = torch.arange(2, device=ys.device).repeat_interleave(steps)
    spans = torch.stack([row, start, start + 1], 1)
    both = torch.cat([best, other])
    found = head.pieces(ys, mask, both, torch.zeros_like(row[:2]), spans)
    return found[:steps] - found[steps:]
