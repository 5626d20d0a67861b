"""Rows of logits on a GPU, a Triton kernel each: a token drawn, what a token is worth, the books of a rollout.

`Sample.choose`, ``log_softmax`` and `RolloutBooks` have the same in torch, which says what they compute.
"""

from __future__ import annotations

from inspect import unwrap
from typing import TYPE_CHECKING

import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

from elman.shapes import Float, Int, Tensor

if TYPE_CHECKING:
    from elman.decoding.rollout_books import RolloutBooks

_FEW = 16  # rows, each of which may have many threads
_LINE = 1024  # columns


def draw(
    logits: Float[Tensor, "B V"], numbers: Float[Tensor, "K B"], place: Tensor, first: int, temperature: float
) -> Int[Tensor, " B"]:
    """`Sample.choose` by that row of the numbers which is for this place (1,); the first one is for ``first``.

    Exponentials have 32 bits, their sums 64: another token is drawn only where a number comes within some 1e-7
    of the edge between two.
    """
    rows, width = logits.shape
    tokens = torch.empty(rows, dtype=torch.long, device=logits.device)
    lines = min(16 if rows <= _FEW else 4, triton.next_power_of_2(triton.cdiv(width, _LINE)))
    _draw_kernel[(rows,)](
        logits, numbers, place, tokens, width, logits.stride(0), rows, len(numbers), first, 1 / temperature,
        lines=lines, line=_LINE, num_warps=max(4, lines),
    )  # fmt: skip
    return tokens


def token_log_probs(logits: Float[Tensor, "B V"], tokens: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
    """log softmax of each row at its token."""
    rows, width = logits.shape
    found = torch.empty(rows, dtype=torch.float32, device=logits.device)
    _log_prob_kernel[(rows,)](logits, tokens, found, width, logits.stride(0), **_shape(rows, width))
    return found


def book(books: RolloutBooks, chosen: Tensor, log_probs: Tensor, allowed: Tensor) -> None:
    """`RolloutBooks.enter`."""
    rows, room = books.tokens.shape
    alone = rows <= 128
    _book_kernel[(triton.cdiv(rows, 128),)](
        chosen, log_probs, allowed, allowed.stride(0), books.live, books.token, books.stuck, books.place,
        books.tokens, books.log_probs, books.mask, books.ends, books.lengths, rows, room,
        alone=alone, count=len(books.ends), block=128, num_warps=4,
    )  # fmt: skip
    if not alone:
        books.place.add_(1)


def _shape(rows: int, width: int) -> dict[str, int]:
    """Columns at a time and threads of a row."""
    block = min(triton.next_power_of_2(width), 16384 if rows <= _FEW else 4096)
    return {"block": block, "num_warps": 16 if block > 4096 else 8}


def _draw(logits, numbers, place, tokens, width, stride, rows, steps, first, sharpness, lines: tl.constexpr, line: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    row = tl.program_id(0).to(tl.int64)
    r = tl.arange(0, lines)
    i = r[:, None] * line + tl.arange(0, line)[None, :]
    best = tl.full([lines, line], -float("inf"), tl.float32)
    for start in range(0, width, lines * line):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf"))
        best = tl.maximum(best, x.to(tl.float32))
    top = tl.max(tl.max(best, 1), 0)
    total = tl.zeros([], tl.float64)
    for start in range(0, width, lines * line):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf"))
        mass = tl.exp((x.to(tl.float32) - top) * sharpness).to(tl.float64)
        total += tl.sum(tl.sum(mass, 1), 0)
    at = (tl.load(place) - first) % steps
    point = tl.load(numbers + at * rows + row) * total
    before = tl.zeros([], tl.float64)
    passed = tl.zeros([], tl.int32)
    for start in range(0, width, lines * line):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf"))
        mass = tl.exp((x.to(tl.float32) - top) * sharpness)
        sums = tl.sum(mass.to(tl.float64), 1)
        # The lines that lie before the point as a whole, then the tokens of the line that it falls into.
        whole = tl.sum(tl.where((before + tl.cumsum(sums, 0) > point) == 0, 1, 0), 0)
        inside = tl.sum(tl.where((r == whole)[:, None], mass, 0.0), 0).to(tl.float64)
        begin = before + tl.sum(tl.where(r < whole, sums, 0.0), 0)
        some = tl.sum(tl.where((begin + tl.cumsum(inside, 0) > point) == 0, 1, 0), 0)
        passed += whole * line + tl.where(whole < lines, some, 0)
        before += tl.sum(sums, 0)
    tl.store(tokens + row, tl.minimum(passed, width - 1).to(tl.int64))


def _log_prob(logits, tokens, found, width, stride, block: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, block)
    best = tl.full([block], -float("inf"), tl.float32)
    for start in range(0, width, block):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf"))
        best = tl.maximum(best, x.to(tl.float32))
    top = tl.max(best, 0)
    total = tl.zeros([block], tl.float32)
    for start in range(0, width, block):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf")).to(
            tl.float32
        )
        total += tl.exp(x - top)
    chosen = tl.load(logits + row * stride + tl.load(tokens + row)).to(tl.float32)
    tl.store(found + row, chosen - top - tl.log(tl.sum(total, 0)))


def _book(chosen, log_probs, allowed, stride, live, token, stuck, place, tokens, values, mask, ends, lengths, rows, room, alone: tl.constexpr, count: tl.constexpr, block: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    row = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    there = row < rows
    i = tl.load(place)
    lives = tl.load(live + row, mask=there, other=0) != 0
    one = tl.where(lives, tl.load(chosen + row, mask=there, other=0), 0)
    worth = tl.load(allowed + row * stride + one, mask=there, other=0.0).to(tl.float32)
    before = tl.load(stuck + row, mask=there, other=0)
    forbidden = lives & (worth == -float("inf")) & (before == 0)
    tl.store(stuck + row, tl.where(forbidden, i + 1, before), mask=there)
    tl.store(tokens + row * room + i, one, mask=there)
    value = tl.load(log_probs + row, mask=there, other=0.0)
    tl.store(values + row * room + i, tl.where(lives, value, 0.0), mask=there)
    tl.store(mask + row * room + i, lives, mask=there)
    goes_on = lives & (i + 1 < tl.load(lengths + row, mask=there, other=0))
    for k in tl.static_range(count):
        goes_on = goes_on & (one != tl.load(ends + k))
    tl.store(live + row, goes_on, mask=there)
    tl.store(token + row, tl.where(goes_on, one, 0), mask=there)
    if alone:  # else another program may still read it
        tl.debug_barrier()
        tl.store(place, i + 1)


# Whoever wraps the functions of this module to check their arguments must not wrap what Triton reads.
_draw_kernel = triton.jit(unwrap(_draw))
_log_prob_kernel = triton.jit(unwrap(_log_prob))
_book_kernel = triton.jit(unwrap(_book))
