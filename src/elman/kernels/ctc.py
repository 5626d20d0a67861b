"""What a target costs when all ways to spell it are summed (CTC, Graves et al. 2006), by one call of C++.

torch computes the log-probabilities of all tokens, the sums, and each of their gradients in turn. Here one row
after the other goes through all of it while it is in the nearest cache.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch.nn.functional import ctc_loss

from elman.kernels.plain_numbers import is_plain
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Int, Tensor

_PIECE = 2**14  # log-probabilities that are worth a thread
_NO_GRADIENTS = (None,) * 6  # of what is no logit


class _Spellings(ctypes.Structure):
    """As in native/ctc.cpp."""

    _fields_ = (
        *(
            (name, ctypes.c_int32)
            for name in ("rows", "positions", "slots", "vocabulary", "longest", "blank", "pieces")
        ),
        ("impossible", ctypes.c_float),
        *(
            (name, ctypes.c_void_p)
            for name in ("logits", "targets", "lengths", "target_lengths", "nll", "gradient")
        ),
    )


def ctc_nll(
    logits: Float[Tensor, "B S VK"],
    targets: Int[Tensor, "B T"],
    lengths: Int[Tensor, " B"],
    target_lengths: Int[Tensor, " B"],
    *,
    slots: int,
    blank: int,
    zero_infinity: bool,
) -> Float[Tensor, " B"]:
    """-log p of each target; where its source is too short ∞, or with ``zero_infinity`` 0, as by torch.

    Each of the first ``lengths`` positions writes ``slots`` tokens or blanks; the slots of a token of the
    vocabulary stand together. Targets have no blanks.
    """
    counts = (targets, lengths, target_lengths)
    if is_plain(logits) and all(_is_count(t) for t in counts) and unsupported_reason() is None:
        found: Tensor = _CTC.apply(logits, *counts, slots, blank, zero_infinity)  # type: ignore[no-untyped-call]
        return found
    return _sum_plainly(logits, *counts, slots, blank, zero_infinity)


def _sum_plainly(
    logits: Tensor,
    targets: Tensor,
    lengths: Tensor,
    target_lengths: Tensor,
    slots: int,
    blank: int,
    zero_infinity: bool,
) -> Tensor:
    """The same with torch."""
    each = logits.float().view(*logits.shape[:2], -1, slots).transpose(-1, -2).flatten(1, 2)
    return ctc_loss(
        each.log_softmax(-1).transpose(0, 1),
        targets,
        slots * lengths,
        target_lengths,
        blank=blank,
        reduction="none",
        zero_infinity=zero_infinity,
    )


class _CTC(torch.autograd.Function):
    """By the library; the gradient is made on the way forward."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        targets: Tensor,
        lengths: Tensor,
        target_lengths: Tensor,
        slots: int,
        blank: int,
        zero_infinity: bool,
    ) -> Tensor:
        given = tuple(t.contiguous() for t in (logits, targets, lengths, target_lengths))
        nll, gradient = logits.new_empty(len(logits)), None
        if ctx.needs_input_grad[0]:
            gradient = logits.new_empty(logits.shape)
        (rows, positions, width), longest = logits.shape, targets.shape[1]
        pieces = max(1, min(torch.get_num_threads(), rows, logits.numel() // _PIECE))
        sizes = (rows, positions, slots, width // slots, longest, blank, pieces)
        impossible = 0.0 if zero_infinity else torch.inf
        made = (nll.data_ptr(), None if gradient is None else gradient.data_ptr())
        job = _Spellings(*sizes, impossible, *(t.data_ptr() for t in given), *made)
        _find_library().elman_spell(ctypes.byref(job), find_parallel())
        ctx.save_for_backward(*given, gradient)
        ctx.options = (slots, blank, zero_infinity)
        return nll

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        logits, targets, lengths, target_lengths, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():
            plain = lambda z: _sum_plainly(z, targets, lengths, target_lengths, *ctx.options)  # noqa: E731
            return *differentiate_plainly(plain, (logits,), (d,)), *_NO_GRADIENTS
        return gradient * d[:, None, None], *_NO_GRADIENTS


def _is_count(t: Tensor) -> bool:
    return type(t) is Tensor and t.is_cpu and t.dtype == torch.int64


def unsupported_reason() -> str | None:
    """Why torch sums; None where the library does."""
    return why_not_loaded("ctc.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("ctc.cpp")
    library.elman_spell.argtypes, library.elman_spell.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    return library
