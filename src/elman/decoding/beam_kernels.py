"""The best continuations of all hypotheses on a GPU: one Triton kernel over pieces of the vocabulary, one over
sentences. `BeamBooks` has the same in torch, which says what they compute.

The first reads the logits once: of each piece the greatest, and what it adds to the log-sum-exp. Of equal
logits the lowest token comes first, as everywhere.
"""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

from elman.shapes import Float, Tensor

if TYPE_CHECKING:
    from elman.decoding.beam_books import BeamBooks

PIECE = 1024  # tokens


def advance(books: BeamBooks, logits: Float[Tensor, "N V"]) -> None:
    """`BeamBooks.enter`."""
    rows, vocabulary = logits.shape
    pieces, count = triton.cdiv(vocabulary, PIECE), min(books.width, vocabulary)
    best = torch.empty(rows, pieces, count, device=logits.device)
    which = torch.empty(rows, pieces, count, dtype=torch.int32, device=logits.device)
    tops, sums = torch.empty(2, rows, pieces, device=logits.device)
    _piece_kernel[(rows, pieces)](
        logits, best, which, tops, sums, vocabulary, logits.stride(0), pieces,
        count=count, block=PIECE, num_warps=1,
    )  # fmt: skip
    each = pieces * count
    high, wide = triton.next_power_of_2(books.width), triton.next_power_of_2(each)
    _select_kernel[(len(books.places),)](
        best, which, tops, sums, books.score, books.places, books.token, books.parent, books.place,
        books.tokens, books.parents, books.log_probs, books.scores, books.fates, books.ends, books.lengths,
        pieces, rows, books.log_factor,
        each=each, width=books.width, endings=len(books.ends), narrow=books.narrow,
        high=high, wide=wide, parts=triton.next_power_of_2(pieces),
        num_warps=1 if high * wide <= 1024 else 4,
    )  # fmt: skip


def _piece(logits, best, which, tops, sums, vocabulary, stride, pieces, count: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    row = tl.program_id(0).to(tl.int64)
    piece = tl.program_id(1)
    i = tl.arange(0, block)
    token = piece * block + i
    x = tl.load(logits + row * stride + token, mask=token < vocabulary, other=-float("inf")).to(tl.float32)
    top = tl.max(x, 0)
    low = tl.where(top == -float("inf"), 0.0, top)
    tl.store(tops + row * pieces + piece, top)
    tl.store(sums + row * pieces + piece, tl.sum(tl.exp(x - low), 0))
    at = (row * pieces + piece) * count
    for k in tl.static_range(count):
        v, a = tl.max(x, 0, return_indices=True)
        tl.store(best + at + k, v)
        tl.store(which + at + k, piece * block + a)
        x = tl.where(i == a, -float("inf"), x)


def _select(best, which, tops, sums, score, places, token, parent, place, tokens, parents, log_probs, scores, fates, ends, lengths, pieces, rows, log_factor, each: tl.constexpr, width: tl.constexpr, endings: tl.constexpr, narrow: tl.constexpr, high: tl.constexpr, wide: tl.constexpr, parts: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    sentence = tl.program_id(0).to(tl.int64)
    r = tl.arange(0, high)
    row = sentence * width + r
    there = r < width
    p = tl.arange(0, parts)
    known = there[:, None] & (p < pieces)[None, :]
    m = tl.load(tops + row[:, None] * pieces + p[None, :], mask=known, other=-float("inf"))
    s = tl.load(sums + row[:, None] * pieces + p[None, :], mask=known, other=0.0)
    top = tl.max(m, 1)
    top = tl.where(top == -float("inf"), 0.0, top)
    mass = tl.log(tl.sum(s * tl.exp(m - top[:, None]), 1))
    c = tl.arange(0, wide)
    inside = there[:, None] & (c < each)[None, :]
    x = tl.load(best + row[:, None] * each + c[None, :], mask=inside, other=-float("inf"))
    log_prob = (x - top[:, None]) - mass[:, None]
    before = tl.load(score + row, mask=there, other=-float("inf"))
    value = tl.where(inside, before[:, None] + log_prob.to(tl.float64), -float("inf"))
    i = tl.load(place)
    room = tl.load(places + sentence)
    last = i + 1 >= tl.load(lengths + sentence)
    done = tl.zeros([], tl.int64)
    first = tl.max(tl.max(value, 1), 0)
    for k in tl.static_range(width):
        across, column = tl.max(value, 1, return_indices=True)
        v, owner = tl.max(across, 0, return_indices=True)
        at = tl.sum(tl.where(r == owner, column, 0), 0)
        here = (r == owner)[:, None] & (c == at)[None, :]
        gain = tl.sum(tl.sum(tl.where(here, log_prob, 0.0), 1), 0)
        one = tl.load(which + (sentence * width + owner) * each + at).to(tl.int64)
        kept = (v > -float("inf")) & (k < room) & ((k == 0) | (v >= first - log_factor))
        ended = last
        for e in tl.static_range(endings):
            ended = ended | (one == tl.load(ends + e))
        done += tl.where(kept & ended, 1, 0)
        goes_on = kept & (ended == 0)
        slot = sentence * width + k
        tl.store(score + slot, tl.where(goes_on, v, -float("inf")))
        tl.store(token + slot, tl.where(goes_on, one, 0))
        tl.store(parent + slot, sentence * width + owner)
        tl.store(tokens + i * rows + slot, one)
        tl.store(parents + i * rows + slot, owner.to(tl.int64))
        tl.store(log_probs + i * rows + slot, gain)
        tl.store(scores + i * rows + slot, v)
        tl.store(fates + i * rows + slot, tl.where(kept, tl.where(ended, 2, 1), 0).to(tl.int8))
        value = tl.where(here, -float("inf"), value)
    if narrow:
        tl.store(places + sentence, room - done)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_piece_kernel = triton.jit(unwrap(_piece))
_select_kernel = triton.jit(unwrap(_select))
