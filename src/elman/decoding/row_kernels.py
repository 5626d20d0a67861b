"""Rows of logits on a GPU, a Triton kernel each: a token drawn, what a token is worth, the books of a rollout.

`Sample.choose`, ``log_softmax`` and `RolloutBooks` have the same in torch, which says what they compute.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import unwrap
from typing import TYPE_CHECKING

import numpy as np
import torch
import triton  # type: ignore[import-not-found,import-untyped,unused-ignore]
import triton.language as tl  # type: ignore[import-not-found,import-untyped,unused-ignore]

from elman.shapes import Float, Int, Tensor

if TYPE_CHECKING:
    from elman.decoding.rollout_books import RolloutBooks

_FEW = 16  # rows, each of which may have many threads
_LINE = 1024  # columns
_AT_ONCE = 4  # tensors that one kernel takes


def draw(
    logits: Float[Tensor, "B V"], numbers: Float[Tensor, "K B"], place: Tensor, first: int, temperature: float
) -> Int[Tensor, " B"]:
    """`Sample.choose` by that row of the numbers which is for this place (1,); the first is for ``first``."""
    rows, width = logits.shape
    tokens = torch.empty(rows, dtype=torch.long, device=logits.device)
    most = triton.next_power_of_2(triton.cdiv(width, _LINE))
    at_once = most <= 16  # more would not fit into registers
    lines = most if at_once else 4
    sharpness = float(np.float32(1) / np.float32(temperature))  # as torch divides a tensor by a number
    (_draw_at_once_kernel if at_once else _draw_kernel)[(rows,)](
        logits, numbers, place, tokens, width, logits.stride(0), rows, len(numbers), first, sharpness,
        plain=temperature == 1, lines=lines, line=_LINE, num_warps=max(4, lines),
    )  # fmt: skip
    return tokens


def keep_rows(live: Tensor, old: Sequence[Tensor], new: Sequence[Tensor]) -> None:
    """Each of ``old`` becomes the corresponding one of ``new`` in the rows where ``live`` is true."""
    for k in range(0, len(old), _AT_ONCE):
        pairs = [*zip(old[k : k + _AT_ONCE], new[k : k + _AT_ONCE], strict=True)]
        widths = [a[0].numel() for a, _ in pairs]
        missing = _AT_ONCE - len(pairs)
        tensors = [tensor for pair in [*pairs, *[pairs[0]] * missing] for tensor in pair]
        grid = (len(live), triton.cdiv(max(widths), _LINE), len(pairs))
        _keep_kernel[grid](live, *tensors, *widths, *[0] * missing, block=_LINE, num_warps=4)


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


def _find_mass(x, top, sharpness, plain: tl.constexpr):  # type: ignore[no-untyped-def]
    x = x.to(tl.float32)
    z = x.to(tl.float64) - top.to(tl.float64) if plain else ((x - top) * sharpness).to(tl.float64)
    return tl.exp(z)


def _draw(logits, numbers, place, tokens, width, stride, rows, steps, first, sharpness, plain: tl.constexpr, lines: tl.constexpr, line: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
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
        total += tl.sum(tl.sum(_mass(x, top, sharpness, plain), 1), 0)
    at = (tl.load(place) - first) % steps
    point = tl.load(numbers + at * rows + row) * total
    before = tl.zeros([], tl.float64)
    passed = tl.zeros([], tl.int32)
    for start in range(0, width, lines * line):
        x = tl.load(logits + row * stride + start + i, mask=start + i < width, other=-float("inf"))
        mass = _mass(x, top, sharpness, plain)
        sums = tl.sum(mass, 1)
        whole, some = _count_before(mass, sums, before, point, r)
        passed += whole * line + tl.where(whole < lines, some, 0)
        before += tl.sum(sums, 0)
    tl.store(tokens + row, tl.minimum(passed, width - 1).to(tl.int64))


def _count_tokens(mass, sums, before, point, r):  # type: ignore[no-untyped-def]
    """The lines that lie before the point as a whole, then the tokens of the line that it falls into."""
    whole = tl.sum(tl.where((before + tl.cumsum(sums, 0) > point) == 0, 1, 0), 0)
    inside = tl.sum(tl.where((r == whole)[:, None], mass, 0.0), 0)
    begin = before + tl.sum(tl.where(r < whole, sums, 0.0), 0)
    return whole, tl.sum(tl.where((begin + tl.cumsum(inside, 0) > point) == 0, 1, 0), 0)


def _draw_at_once(logits, numbers, place, tokens, width, stride, rows, steps, first, sharpness, plain: tl.constexpr, lines: tl.constexpr, line: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip # noqa: E501
    row = tl.program_id(0).to(tl.int64)
    r = tl.arange(0, lines)
    i = r[:, None] * line + tl.arange(0, line)[None, :]
    x = tl.load(logits + row * stride + i, mask=i < width, other=-float("inf")).to(tl.float32)
    mass = _mass(x, tl.max(tl.max(x, 1), 0), sharpness, plain)
    sums = tl.sum(mass, 1)
    at = (tl.load(place) - first) % steps
    point = tl.load(numbers + at * rows + row) * tl.sum(sums, 0)
    whole, some = _count_before(mass, sums, tl.zeros([], tl.float64), point, r)
    passed = whole * line + tl.where(whole < lines, some, 0)
    tl.store(tokens + row, tl.minimum(passed, width - 1).to(tl.int64))


def _keep(live, a, a_new, b, b_new, c, c_new, d, d_new, wide_a, wide_b, wide_c, wide_d, block: tl.constexpr):  # type: ignore[no-untyped-def]  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1) * block + tl.arange(0, block)
    which = tl.program_id(2)
    if tl.load(live + row) != 0:
        if which == 0:
            tl.store(a + row * wide_a + i, tl.load(a_new + row * wide_a + i, mask=i < wide_a), mask=i < wide_a)
        if which == 1:
            tl.store(b + row * wide_b + i, tl.load(b_new + row * wide_b + i, mask=i < wide_b), mask=i < wide_b)
        if which == 2:
            tl.store(c + row * wide_c + i, tl.load(c_new + row * wide_c + i, mask=i < wide_c), mask=i < wide_c)
        if which == 3:
            tl.store(d + row * wide_d + i, tl.load(d_new + row * wide_d + i, mask=i < wide_d), mask=i < wide_d)


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
_mass = triton.jit(unwrap(_find_mass))
_count_before = triton.jit(unwrap(_count_tokens))
_draw_kernel = triton.jit(unwrap(_draw))
_draw_at_once_kernel = triton.jit(unwrap(_draw_at_once))
_keep_kernel = triton.jit(unwrap(_keep))
_log_prob_kernel = triton.jit(unwrap(_log_prob))
_book_kernel = triton.jit(unwrap(_book))
