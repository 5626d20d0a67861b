"""The sum in a softmax whose target has a logit of its own beside its row: l = log(e^own + Σ e^z).

With torch, the maximum, the powers, their sum and their way back each pass over all logits. By C++ the logits
become their own gradients e^(z - l) while they are summed.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch

from elman.kernels.plain_numbers import is_plain
from elman.kernels.reused_memory import reuse_empty
from elman.native.host_threads import find_parallel
from elman.native.library import load_file, why_not_loaded
from elman.second_derivatives import differentiate_plainly
from elman.shapes import Float, Int, Tensor

_PIECE = 2**18  # logits that are worth a thread


class _Rows(ctypes.Structure):
    """As in native/logsumexp.cpp."""

    _fields_ = (
        ("rows", ctypes.c_long),
        *((name, ctypes.c_int) for name in ("count", "pieces")),
        *((name, ctypes.c_void_p) for name in ("z", "own", "without", "l")),
    )


def logsumexp_beside(
    z: Float[Tensor, "N V"], own: Float[Tensor, " N"], without: Int[Tensor, " N"]
) -> Float[Tensor, " N"]:
    """l of each row without the logit in a column, V: with all of them; ``z`` may be overwritten."""
    if is_plain(z, own) and z.is_contiguous() and unsupported_reason() is None:
        summed: Tensor = _LogSumExp.apply(z, own, without)  # type: ignore[no-untyped-call]
        return summed
    left_out = torch.zeros(len(z), z.shape[1] + 1, dtype=torch.bool, device=z.device)
    left_out.scatter_(1, without[:, None], True)
    return _sum_plainly(z.masked_fill(left_out[:, :-1], -torch.inf), own)


def _sum_plainly(z: Tensor, own: Tensor) -> Tensor:
    # The second derivatives of logaddexp overflow.
    return torch.stack((z.logsumexp(1), own)).logsumexp(0)


class _LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, own: Tensor, without: Tensor) -> Tensor:
        (rows, count), l, own = z.shape, z.new_empty(len(z)), own.contiguous()
        pieces = max(1, min(torch.get_num_threads(), z.numel() // _PIECE))
        at = [t.data_ptr() for t in (z, own, without.contiguous(), l)]
        _find_library().elman_logsumexp(ctypes.byref(_Rows(rows, count, pieces, *at)), find_parallel())
        ctx.save_for_backward(z, own, l)
        return l

    @staticmethod
    def backward(ctx: Any, d: Tensor) -> tuple[Tensor | None, ...]:
        p, own, l = ctx.saved_tensors
        if torch.is_grad_enabled():
            # Where z was overwritten it is l + log p, and moves as it did.
            moved = (l[:, None] + p.clamp(min=torch.finfo(p.dtype).tiny).log() - p).detach()
            return *differentiate_plainly(lambda z, own: _sum_plainly(z + moved, own), (p, own), (d,)), None
        return torch.mul(p, d[:, None], out=reuse_empty(*p.shape)), (own - l).exp() * d, None


def unsupported_reason() -> str | None:
    """Why torch sums; None where the library does."""
    return why_not_loaded("logsumexp.cpp")


@cache
def _find_library() -> ctypes.CDLL:
    library = load_file("logsumexp.cpp")
    library.elman_logsumexp.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.elman_logsumexp.restype = None
    return library
