"""What a tagger says of a sentence: tags and spans, how sure it is of each, and what else it might be."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from elman.shapes import Tensor
from elman.tasks.tagger.heads import Head, TagRows
from elman.tasks.tagger.tagset import Piece, Tagset
from elman.text.spans import Span, tags_to_spans


class Tagging(NamedTuple):
    """The answer for one sentence in one column.

    Where tags are trained in another scheme than they are written in, ``confidence`` is that of the former.
    """

    tags: list[str]
    confidence: list[float]  # the probability of each tag
    spans: list[tuple[Span, float]]  # with the probability that this very span is there
    n_best: list[tuple[list[str], float]]  # this and other answers with their probability


def best_tags(tagset: Tagset, head: Head, ys: Tensor, mask: Tensor) -> Iterator[list[str]]:
    """The likeliest tags of sentences whose encoder gave ``ys`` (B, T, H)."""
    for tags, length in zip(head.best(ys, mask).tolist(), mask.sum(1).tolist(), strict=True):
        yield tagset.decode(tags[:length])


def analyse_sentences(tagset: Tagset, head: Head, ys: Tensor, mask: Tensor, n: int) -> Iterator[Tagging]:
    """The answers for sentences whose encoder gave ``ys`` (B, T, H), with the n best of each."""
    paths = head.n_best(ys, mask, n)
    best = paths.tags[:, 0]
    sure = head.marginals(ys, mask).gather(2, best[..., None])[..., 0].clamp(max=1)
    lengths = mask.sum(1).tolist()
    ids = [row[:length] for row, length in zip(best.tolist(), lengths, strict=True)]
    found = [tags_to_spans(tagset.decode(path)) if tagset.written else [] for path in ids]
    pieces = [[tagset.pieces(span, path) for span in row] for row, path in zip(found, ids, strict=True)]
    chances = iter(_chances(head, ys, mask, pieces))
    for i, length in enumerate(lengths):
        others = zip(paths.tags[i].tolist(), paths.scores[i].tolist(), strict=True)
        yield Tagging(
            tagset.decode(ids[i]),
            sure[i, :length].tolist(),
            [(span, next(chances)) for span in found[i]],
            # Scores, not their exponents: those of a long sentence are all 0.
            [(tagset.decode(p[:length]), math.exp(min(s, 0.0))) for p, s in others if s > -math.inf],
        )


def _chances(head: Head, ys: Tensor, mask: Tensor, pieces: Sequence[Sequence[Sequence[Piece]]]) -> list[float]:
    """The probability of each span of each sentence, which is that of its pieces, added up."""
    flat = [(i, p) for i, row in enumerate(pieces) for span in row for p in span]
    if not flat:
        return []
    packed = _pack(flat, mask.shape[1])
    each = head.pieces(ys, mask, TagRows(*(torch.as_tensor(part, device=ys.device) for part in packed)))
    signed = iter((each.double().exp().cpu() * torch.tensor([p.sign for _, p in flat])).tolist())
    sums = [sum(next(signed) for _ in span) for row in pieces for span in row]
    return [min(max(chance, 0.0), 1.0) for chance in sums]


def _pack(
    pieces: Sequence[tuple[int, Piece]], width: int
) -> tuple[npt.NDArray[np.int64], list[int], list[tuple[int, int, int]]]:
    """Rows of tags, the sentence of each row, and (row, start, stop) of each piece.

    Pieces of a sentence that do not overlap share a row: a row costs as much as a sentence.
    """
    rows: list[npt.NDArray[np.int64]] = []
    of: list[int] = []
    places = []
    used = defaultdict[int, list[int]](list)  # rows of each sentence
    for sentence, piece in pieces:
        start, stop = piece.start, piece.start + len(piece.tags)
        row = next((r for r in used[sentence] if (rows[r][start:stop] < 0).all()), None)
        if row is None:
            row = len(rows)
            rows.append(np.full(width, -1, np.int64))
            of.append(sentence)
            used[sentence].append(row)
        rows[row][start:stop] = piece.tags
        places.append((row, start, stop))
    return np.stack(rows).clip(min=0), of, places
